import Foundation
import SluiceRedis
import Testing

struct RedisValueTests {
    @Test(arguments: [
        ("ERR no such key", "ERR", "no such key"), ("WRONGTYPE", "WRONGTYPE", ""), ("", "ERR", ""),
        ("no prefix", "ERR", "no prefix"), ("Error here", "ERR", "Error here"), ("MOVED 1 h:1", "MOVED", "1 h:1"),
    ])
    func errorsHaveAPrefix(text: String, prefix: String, message: String) {
        let error = RedisReplyError(text)
        #expect(error.prefix == prefix)
        #expect(error.message == message)
    }

    @Test func descriptionsOfErrorsShowNoArguments() {
        let error = RedisReplyError("ERR unknown command 'AUHT', with args beginning with: 'shop' 'hunter2' ")
        #expect("\(error)" == "ERR unknown command 'AUHT'")
    }

    @Test func integersAreReadFromAllFormsThatServersUse() {
        #expect(RedisValue.integer(5).int == 5)
        #expect(RedisValue.text("-5").int == -5)
        #expect(RedisValue.boolean(true).int == 1)
        #expect(RedisValue.text("5.0").int == nil)
        #expect(RedisValue.null.int == nil)
        #expect(RedisValue.bytes(Data([0xFF])).string == nil)
        #expect(RedisValue.set([.null]).elements == [.null])
    }
}
