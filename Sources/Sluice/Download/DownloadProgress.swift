import SluiceHTTP

/// Tells the progress of a download, which may come in several transfers and from an earlier send.
struct DownloadProgress: Sendable {
    let meter: TransferMeter

    /// A resource begins anew.
    func begin() {
        _ = meter.begin(uploading: nil)
    }

    /// Tells what is there by now.
    func update(_ part: PartFile) {
        meter.set(.download, completed: part.completed.count, total: part.resource?.length)
    }
}
