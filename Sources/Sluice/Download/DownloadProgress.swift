import SluiceHTTP

/// Tells the progress of a download, which may come in several transfers and from an earlier send.
struct DownloadProgress: Sendable {
    let meter: TransferMeter

    /// A resource begins, or goes on from what an earlier send has left.
    func begin(with part: PartFile) {
        _ = meter.begin(uploading: nil)
        meter.set(.download, completed: part.completed.count, total: part.resource?.length, isStart: true)
    }

    /// Tells what is there by now.
    func update(_ part: PartFile) {
        meter.set(.download, completed: part.completed.count, total: part.resource?.length)
    }
}
