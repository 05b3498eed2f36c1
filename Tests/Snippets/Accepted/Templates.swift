import Foundation
import Sluice

// URI templates, names of headers, and JSON values.

private let template: URITemplate = "users/{id}{?page,tags*}"

func variablesOfLiterals() {
    show(shop.get(template.expanding(["id": 1, "page": 2, "tags": ["a", "b"]]), as: User.self))
}

func variableOfAnInteger() {
    let id = 7
    show(shop.get(template.expanding(["id": id]), as: User.self))
}

func variableOfAString() {
    let id = "7"
    show(shop.get(template.expanding(["id": id]), as: User.self))
}

func variablesOfDifferentTypes() {
    let id = "7"
    let page = 2
    let tags = ["a", "b"]
    show(shop.get(template.expanding(["id": id, "page": page, "tags": tags]), as: User.self))
}

func variableThatIsNil() {
    let page: Int? = nil
    show(shop.get(template.expanding(["id": 7, "page": page]), as: User.self))
}

func variablesInAValue() {
    let variables: Parameters = ["id": 7]
    show(shop.get(template.expanding(variables), as: User.self))
}

func templateInPlace() {
    show(shop.get(URITemplate("users/{id}").expanding(["id": 1]), as: User.self))
}

func interpolatedHeaderNames() {
    let client = APIClient(baseURL: "https://shop.example") {
        for number in 1...3 { $0.headers["X-\(number)"] = "\(number)" }
    }
    show(client)
}

func interpolatedHeaderNameOfARequest() {
    let name = "Trace"
    show(shop.get("users/1", as: User.self).header("X-\(name)", "1"))
}

func jsonLiteral() {
    let value: JSON = ["a": 1, "b": [1, "x", nil, true, 2.5], "c": ["d": "e"]]
    show(value)
}

func jsonText() throws {
    show(try JSON(parsing: #"{"a":1}"#).a.int)
}

func jsonMembers() async throws {
    let page: JSON = try await shop.json.get("page").sender().value
    show(page["a"]["b"][0].string)
    show(page.a.b.intValue)
    show(page["a"]["b"].int ?? 0)
    for item in page.items.arrayValue { show(item.name.stringValue) }
    for (name, value) in page.dictionaryValue { show([name: value]) }
}

func jsonConditions() {
    let value: JSON = ["a": 1]
    if let number = value.a.int { show(number) }
    if let text = value["b"].string { show(text) }
    if value.isNull { show("null") }
    if value.a == 1 { show("one") }
}

func jsonChanges() {
    var value: JSON = ["a": 1]
    value["a"] = 2
    value.b = "x"
    value["c"]["d"] = [1]
    show(value)
}

func jsonAsAModel() throws {
    let value: JSON = ["id": 1, "name": "Ada"]
    show(try value.decoded(as: User.self))
    show(try JSON(encoding: User(id: 1, name: "Ada")))
}

func jsonAsABody() {
    let value: JSON = ["a": 1, "b": ["c", nil, true]]
    show(shop.post("users", as: User.self).json(value))
    show(shop.post("users", as: User.self).json([1, "a", true] as JSON))
}
