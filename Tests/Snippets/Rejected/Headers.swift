import Foundation
import Sluice

// Headers, links and progress, as written at first.

// error: Write the name first: "append("Accept", "text/plain")".
func appendFor() {
    var headers = HTTPHeaders()
    headers.append("keyid", for: "Signature-Input")
    show(headers)
}

// error: Write the name first: "append("Accept", "text/plain")".
func appendTo() {
    var headers = HTTPHeaders()
    headers.append("keyid", to: "Signature-Input")
    show(headers)
}

// error: Write "append("Accept", "text/plain")"
func appendNameValue() {
    var headers = HTTPHeaders()
    headers.append(name: "Accept", value: "a")
    show(headers)
}

// error: Write "append("Accept", "text/plain")"
func addNameValue() {
    var headers = HTTPHeaders()
    headers.add(name: "Accept", value: "a")
    show(headers)
}

// error: Write "append("Accept", "text/plain")"
func addHeader() {
    var headers = HTTPHeaders()
    headers.add("Accept", "a")
    show(headers)
}

// error: Write the name first: "append("Accept", "text/plain")".
func addFor() {
    var headers = HTTPHeaders()
    headers.add("a", for: "Accept")
    show(headers)
}

// error: Write "headers["Accept"] = "text/plain"".
func replaceOrAdd() {
    var headers = HTTPHeaders()
    headers.replaceOrAdd(name: "Accept", value: "a")
    show(headers)
}

// error: Write "headers["Accept"] = "text/plain"".
func setHeader() {
    var headers = HTTPHeaders()
    headers.set("Accept", "a")
    show(headers)
}

// error: Write "headers["Accept"] = "text/plain"".
func setTo() {
    var headers = HTTPHeaders()
    headers.set("Accept", to: "a")
    show(headers)
}

// error: Write "headers["Accept"] = "text/plain"".
func setFor() {
    var headers = HTTPHeaders()
    headers.set("a", for: .accept)
    show(headers)
}

// error: Write "headers["Accept"] = "text/plain"".
func setNameValue() {
    var headers = HTTPHeaders()
    headers.set(name: "Accept", value: "a")
    show(headers)
}

// error: Write "headers["Accept"]", or "values(for: "Accept")" for all values.
func firstName(headers: HTTPHeaders) {
    print(headers.first(name: "Accept") ?? "")
}

// error: Write "headers["Accept"]", or "values(for: "Accept")" for all values.
func valueFor(headers: HTTPHeaders) {
    print(headers.value(for: "Accept") ?? "")
}

// error: Read the links of the head: "response.head?.links".
func linksOfHeaders(headers: HTTPHeaders) {
    print(headers.links["next"]?.target ?? "")
}

// error: Read the links of the head: "response.head?.links".
func linkHeaderOfHeaders(headers: HTTPHeaders) {
    print(LinkHeader(headers)["next"]?.target ?? "")
}

// error: Write "head?.links".
func linksOfResponse(response: APIResponse<User, ShopError>) {
    print(response.links["next"]?.target ?? "")
}

// error: Write "head.headers".
func headersOfServerResponse(response: ServerResponse) {
    print(response.headers["ETag"] ?? "")
}

// error: Write "head.links".
func linksOfServerResponse(response: ServerResponse) {
    print(response.links["next"]?.target ?? "")
}

// error: Write "status", or "status.rawValue" for a number.
func statusCodeOfServerResponse(response: ServerResponse) {
    print(response.statusCode)
}

// error: Write "status", or "status.rawValue" for a number.
func statusCodeOfHead(response: ServerResponse) {
    print(response.head.statusCode)
}

// error: Write "body".
func dataOfServerResponse(response: ServerResponse) {
    print(response.data.count)
}

// error: Write "links["next"]".
func nextLink(response: ServerResponse) {
    print(response.head.links.next?.target ?? "")
}

// error: Write "links["next"]".
func firstLink(response: ServerResponse) {
    print(response.head.links.first("next")?.target ?? "")
}

// error: Write "target", which may be relative to the URL of the response.
func linkURL(link: WebLink) {
    print(link.url)
}

// error: Write "target", which may be relative to the URL of the response.
func linkURI(link: WebLink) {
    print(link.uri)
}

// error: Write "relations": a link may have several.
func linkRelation(link: WebLink) {
    print(link.relation)
}

// error: Write "relations": a link may have several.
func linkRel(link: WebLink) {
    print(link.rel)
}

// error: Read a parameter by its name: "link["title"]".
func linkParameters(link: WebLink) {
    print(link.parameters["title"] ?? "")
}

// error: Write "bytesPerSecond"
func progressSpeed(progress: TransferProgress) {
    print(progress.speed ?? 0)
}

// error: Write "bytesPerSecond"
func progressThroughput(progress: TransferProgress) {
    print(progress.throughput ?? 0)
}

// error: Write "completed"
func progressCompletedBytes(progress: TransferProgress) {
    print(progress.completedBytes)
}

// error: Write "completed"
func progressCompletedUnitCount(progress: TransferProgress) {
    print(progress.completedUnitCount)
}

// error: Write "total"
func progressTotalBytes(progress: TransferProgress) {
    print(progress.totalBytes ?? 0)
}

// error: Write "total"
func progressTotalUnitCount(progress: TransferProgress) {
    print(progress.totalUnitCount ?? 0)
}

// error: Write "fractionCompleted"
func progressFraction(progress: TransferProgress) {
    print(progress.fraction ?? 0)
}

// error: Write "timeLeft"
func progressRemaining(progress: TransferProgress) {
    print(progress.remaining ?? .zero)
}

// error: Write "timeLeft"
func progressRemainingTime(progress: TransferProgress) {
    print(progress.remainingTime ?? .zero)
}

// error: Write "timeLeft"
func progressEstimatedTimeRemaining(progress: TransferProgress) {
    print(progress.estimatedTimeRemaining ?? .zero)
}

// error: A Duration has no minutes: write ".seconds(
func timeoutInMinutes() {
    show(shop.get("a", as: User.self).timeout(total: .minutes(1)))
}

// error: A Duration has no hours: write ".seconds(
func timeoutInHours() {
    show(shop.get("a", as: User.self).timeout(total: .hours(1)))
}

// error: A Duration has no days: write ".seconds(
func timeoutInDays() {
    show(shop.get("a", as: User.self).timeout(total: .days(1)))
}

// error: A Duration has no days: write ".seconds(86_400)".
func staleIfErrorInDays() {
    show(HTTPCaching(staleIfError: .days(1)))
}

// error: Write "target", which may be relative to the URL of the response.
func linkHref(link: WebLink) {
    print(link.href)
}

// error: Write "fractionCompleted", from 0 to 1.
func progressPercent(progress: TransferProgress) {
    print(progress.percent ?? 0)
}

// error: Write "HTTPStatus(404)".
func statusOfACode() {
    show(HTTPStatus(code: 404))
}

// error: Write ".unprocessableContent".
func unprocessableEntity() {
    show(HTTPStatus.unprocessableEntity)
}

// error: Write the number: "error.status == 402".
func paymentRequired() {
    show({ (error: SluiceError) in error.status == .paymentRequired })
}

// error: Write ".get".
func methodGet() {
    show(HTTPMethod.GET)
}

// error: Write ".post".
func methodPost() {
    show(HTTPMethod.POST)
}

// error: Write ".put".
func methodPut() {
    show(HTTPMethod.PUT)
}

// error: Write ".patch".
func methodPatch() {
    show(HTTPMethod.PATCH)
}

// error: Write ".delete".
func methodDelete() {
    show(HTTPMethod.DELETE)
}

// error: Write ".head".
func methodHead() {
    show(HTTPMethod.HEAD)
}
