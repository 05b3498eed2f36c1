#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

/// Nodes of a cluster with certificates for their names.
@Suite(.enabled(if: RedisProcess.canRun))
struct ClusterTLSTests {
    @Test(arguments: ["hostname", "ip"])
    func certificateOfANodeMustBeValidForItsName(preferred: String) async throws {
        let folder = try RedisProcess.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, tls) = try RedisProcess.makeCertificate(in: folder)
        let cluster = [
            "--cluster-enabled", "yes", "--cluster-announce-hostname", "localhost", "--cluster-preferred-endpoint-type",
            preferred, "--tls-cluster", "yes", "--tls-ca-cert-file", certificate,
        ]
        let (owner, ownerPort) = try RedisProcess.onPort("--tls-port", tls + cluster)
        let (other, otherPort) = try RedisProcess.onPort("--tls-port", tls + cluster)
        let (ownerSocket, otherSocket) = (RedisClient(owner.server), RedisClient(other.server))
        _ = try await ownerSocket.send(RedisCommand("CLUSTER", "ADDSLOTSRANGE", 0, 16_383))
        _ = try await otherSocket.send(RedisCommand("CLUSTER", "MEET", "127.0.0.1", ownerPort))
        try await until {
            let info = try await otherSocket.send(RedisCommand("CLUSTER", "INFO")).string ?? ""
            let nodes = try await otherSocket.send(RedisCommand("CLUSTER", "NODES")).string ?? ""
            return info.contains("cluster_state:ok") && nodes.components(separatedBy: ",localhost").count == 3
        }
        var server = RedisServer(host: "localhost", port: otherPort).patient
        server.tls = TLSConfiguration(trust: .only(.file(certificate)))
        let client = RedisClient(server)
        if preferred == "ip" {
            // The first redirection names an address, for which the certificate is not valid. The map has the name.
            let error = await #expect(throws: RedisError.self) { try await client.send(RedisCommand("SET", "a", 1)) }
            let failure = (error?.underlyingError as? SluiceError)?.underlyingError as? TLSFailure
            #expect(failure?.check == .hostName)
            #expect(try await client.eventually(RedisCommand("SET", "a", 1)).string == "OK")
        } else {
            #expect(try await client.send(RedisCommand("SET", "a", 1)).string == "OK")
        }
        #expect(try await client.send(RedisCommand("GET", "a")).int == 1)
        withExtendedLifetime((owner, other)) {}
    }
}
#endif
