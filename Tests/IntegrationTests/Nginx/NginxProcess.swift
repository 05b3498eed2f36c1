import Foundation

/// An nginx that runs in a folder. Both are removed when it is deallocated.
final class NginxProcess {
    let folder: URL
    private let process: Process

    /// Starts nginx.
    ///
    /// - Parameters:
    ///   - folder: The folder of its files, to which paths in the configuration are relative. It is created if it does not exist.
    ///   - connections: The maximum number of concurrent connections.
    ///   - http: The server's part of the `http` block, after the common part.
    /// - Throws: A ``RealServer/Failure`` with the output of nginx.
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
