import SluiceHTTP

/// Reports the progress of a download, which may consist of several transfers and of bytes from an earlier send.
struct DownloadProgress: Sendable {
    let meter: TransferMeter

    /// Reports the start of a resource, or the resumption of an earlier send.
    func begin(with part: PartFile) {
        _ = meter.begin(uploading: nil)
        meter.set(.download, completed: part.completed.count, total: part.resource?.length, isStart: true)
    }

    /// Reports the bytes that are there now.
    func update(_ part: PartFile) {
        meter.set(.download, completed: part.completed.count, total: part.resource?.length)
    }
}
