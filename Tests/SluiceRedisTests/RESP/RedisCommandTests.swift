import Foundation
import SluiceHTTP
import SluiceRedis
import Testing

struct RedisCommandTests {
    @Test func commandsAreArraysOfBulkStrings() {
        var output: [UInt8] = []
        let command = RedisCommand("set", "kéy", Data([0, 13, 10]), "EX", -7)
        command.write(to: &output)
        let expected = "*5\r\n$3\r\nSET\r\n$4\r\nkéy\r\n$3\r\n\0\r\n\r\n$2\r\nEX\r\n$2\r\n-7\r\n"
        #expect(output == Array(expected.utf8))
        #expect(output.count <= command.size)
    }

    @Test func descriptionsOfCommandsShowNoArguments() {
        let command = RedisCommand("AUTH", "shop", Secret("hunter2"))
        var dumped = ""
        dump(command, to: &dumped)
        for text in ["\(command)", String(reflecting: command), dumped] { #expect(!text.contains("hunter2")) }
        #expect("\(command)" == "AUTH with 2 arguments")
    }
}
