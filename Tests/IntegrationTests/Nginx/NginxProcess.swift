import Foundation

/// An nginx that runs in a folder until nobody holds it; then the folder goes with it.
final class NginxProcess {
    let folder: URL
    private let process: Process

    /// Starts nginx.
    ///
    /// - Parameters:
    ///   - folder: Where its files are, to which paths in the configuration are relative; made if it is not there.
    ///   - connections: The connections that it takes at a time.
    ///   - http: What the configuration says of HTTP, beyond what all servers here have in common.
    /// - Throws: A ``RealServer/Failure`` with what nginx printed.
    init(in folder: URL, connections: Int = 512, http: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = """
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 1;
            daemon off;
            pid nginx.pid;
            error_log stderr notice;
            events { worker_connections \(connections); }
            http {
                default_type text/plain;
                client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                access_log off;
                \(http)
            }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        let arguments = ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"]
        process = try RealServer.start("nginx", arguments, until: "start worker process")
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
