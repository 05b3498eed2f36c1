import Foundation
import Sluice

// Downloads and streams, as written at first.

// error: Write ".suggested(in: folder)".
func downloadDirectory() {
    show(shop.download("film", to: .directory(URL(filePath: "/a"))))
}

// error: Write ".file(url, ifExists: .overwrite)".
func downloadOverwrite() {
    show(shop.download("film", to: .file(URL(filePath: "/a"), overwrite: true)))
}

// error: Write ".file(url, ifExists: .overwrite)".
func downloadReplaceFile() {
    show(shop.download("film", to: .file(URL(filePath: "/a"), replace: true)))
}

// error: Write ".file(URL(filePath: path))".
func downloadFilePath() {
    show(shop.download("film", to: .file("/a")))
}

// error: Write ".overwrite".
func downloadReplace() {
    show(shop.download("film", to: .file(URL(filePath: "/a"), ifExists: .replace)))
}

// error: Write ".keepBoth".
func downloadRename() {
    show(shop.download("film", to: .suggested(in: URL(filePath: "/a"), ifExists: .rename)))
}

// error: Write "download("film", to: .temporary, error: ShopError.self)".
func downloadErrors() {
    show(shop.download("film", to: .temporary).errors(as: SluiceError.self))
}

// error: Write "download("film", to: .temporary, error: ShopError.self)".
func downloadError() {
    show(shop.download("film", to: .temporary).error(as: ShopError.self))
}

// error: Write "get("users", as: User.self, error: ShopError.self)".
func requestErrors() {
    show(shop.get("a", as: User.self).errors(as: ShopError.self))
}

// error: Write "get("users", as: User.self, error: ShopError.self)".
func requestError() {
    show(shop.get("a", as: User.self).error(as: ShopError.self))
}

// error: Write "decoded(as: Price.self, by: decoder)".
func eventDecoder(event: ServerSentEvent) throws {
    show(try event.decoded(as: User.self, decoder: JSONDecoder()))
}

// error: Write "decoded(as: Price.self, by: decoder)".
func eventUsing(event: ServerSentEvent) throws {
    show(try event.decoded(as: User.self, using: JSONDecoder()))
}

// error: Write "decoded(as: Price.self, by: decoder)".
func eventWith(event: ServerSentEvent) throws {
    show(try event.decoded(as: User.self, with: JSONDecoder()))
}

// error: Write "serverSentEvents(reconnection: .none)".
func streamReconnect() async throws {
    for try await event in shop.stream("a").serverSentEvents(reconnect: false) { show(event) }
}

// error: Write "serverSentEvents(reconnection: .none)".
func streamReconnects() async throws {
    for try await event in shop.stream("a").serverSentEvents(reconnects: false) { show(event) }
}

// error: Decode each event: "try event.decoded(as: Price.self)".
func streamOf() async throws {
    for try await event in shop.stream("a").serverSentEvents(of: User.self) { show(event) }
}

// error: Decode each event: "try event.decoded(as: Price.self)".
func streamAs() async throws {
    for try await event in shop.stream("a").serverSentEvents(as: User.self) { show(event) }
}

// error: Write "serverSentEvents()".
func streamEvents() async throws {
    for try await event in shop.stream("a").events() { show(event) }
}

// error: Write ".none".
func streamNever() async throws {
    for try await event in shop.stream("a").serverSentEvents(reconnection: .never) { show(event) }
}

// error: Write ".none".
func streamDisabled() async throws {
    for try await event in shop.stream("a").serverSentEvents(reconnection: .disabled) { show(event) }
}

// error: extra argument 'via' in call
func eventWithAnotherLabel(event: ServerSentEvent) throws {
    show(try event.decoded(as: User.self, via: JSONDecoder()))
}

// error: Write "type".
func nameOfAnEvent() {
    show({ (event: ServerSentEvent) in event.name })
}

// error: Write "decoded(as: Price.self)".
func decodeOfAnEvent() {
    show({ (event: ServerSentEvent) in try event.decode(User.self) })
}

// error: Write "decoded(as: JSON.self)".
func jsonOfAnEvent() {
    show({ (event: ServerSentEvent) in try event.json() })
}

// error: 'open()' has been renamed to 'response'
func openedStream() async throws {
    show(try await shop.stream("log").open())
}
