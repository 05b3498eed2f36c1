"""An authorization server on Authlib, with an API behind it that wants its tokens.

Rotates refresh tokens, wants PKCE of public clients, and consents to every authorization but those of the user "nobody".
"""
import os
import sys
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6749.util import list_to_scope, scope_to_list
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Flask, jsonify, request
from werkzeug.serving import make_server

REDIRECT_URI = "https://app.example/back?from=id"
PASSWORDS = {"ada": "pass word+ü&"}


class Client(ClientMixin):
    def __init__(self, client_id, secret, method, allowed):
        self.client_id, self.secret, self.method, self.allowed = client_id, secret, method, allowed

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return REDIRECT_URI

    def get_allowed_scope(self, scope):
        return list_to_scope([word for word in scope_to_list(scope or "") if word in ("read", "write")])

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == REDIRECT_URI

    def check_client_secret(self, client_secret):
        return self.secret == client_secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.method

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in self.allowed


class Token(TokenMixin):
    def __init__(self, client, user, values):
        self.client, self.user, self.values = client, user, values
        self.issued_at = time.time()
        self.is_access_revoked = self.is_refresh_revoked = False

    def check_client(self, client):
        return self.client is client

    def get_scope(self):
        return self.values.get("scope", "")

    def get_expires_in(self):
        return self.values["expires_in"]

    def is_expired(self):
        return self.issued_at + self.values["expires_in"] <= time.time()

    def is_revoked(self):
        return self.is_access_revoked

    def get_user(self):
        return self.user

    def get_client(self):
        return self.client


class Code(AuthorizationCodeMixin):
    def __init__(self, code, values, user):
        self.code, self.user = code, user
        self.redirect_uri, self.scope = values.get("redirect_uri"), values.get("scope", "")
        self.code_challenge = values.get("code_challenge")
        self.code_challenge_method = values.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


CLIENTS = {
    client.client_id: client
    for client in (
        Client("service", "s3cret", "client_secret_basic", ["client_credentials"]),
        Client("odd: ü", "p:%+ä ~&=", "client_secret_basic", ["client_credentials"]),
        Client("poster", "p:%+ä ~&=", "client_secret_post", ["client_credentials"]),
        Client("app", "", "none", ["authorization_code", "refresh_token"]),
        Client("legacy", "s3cret", "client_secret_basic", ["password", "refresh_token"]),
        Client("web", "s3cret", "client_secret_basic", ["authorization_code", "refresh_token"]),
    )
}
TOKENS, CODES, COUNTS = [], {}, {}


def find(name, value):
    return next((token for token in TOKENS if token.values.get(name) == value), None)


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

    def save_authorization_code(self, code, request):
        CODES[code] = Code(code, request.payload.data, request.user)

    def query_authorization_code(self, code, client):
        return CODES.get(code)

    def delete_authorization_code(self, authorization_code):
        CODES.pop(authorization_code.code, None)

    def authenticate_user(self, authorization_code):
        return authorization_code.user


class PasswordGrant(grants.ResourceOwnerPasswordCredentialsGrant):
    def authenticate_user(self, username, password):
        return username if username in PASSWORDS and PASSWORDS[username] == password else None


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        token = find("refresh_token", refresh_token)
        if token and token.is_refresh_revoked:
            COUNTS["spent"] = COUNTS.get("spent", 0) + 1
        return token if token and not token.is_refresh_revoked else None

    def authenticate_user(self, refresh_token):
        return refresh_token.user

    def revoke_old_credential(self, refresh_token):
        refresh_token.is_access_revoked = refresh_token.is_refresh_revoked = True


class ClientCredentialsGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

    def query_token(self, token_string, token_type_hint):
        return find("access_token", token_string) or find("refresh_token", token_string)

    def revoke_token(self, token, request):
        token.is_access_revoked = token.is_refresh_revoked = True


class Issuer(IssuerParameter):
    def get_issuer(self):
        return f"http://127.0.0.1:{sys.argv[1]}"


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return find("access_token", token_string)


app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(
    app,
    query_client=CLIENTS.get,
    save_token=lambda token, request: TOKENS.append(Token(request.client, request.user, dict(token))),
)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_grant(PasswordGrant)
server.register_grant(RefreshGrant)
server.register_grant(ClientCredentialsGrant)
server.register_endpoint(Revocation)
server.register_extension(Issuer())
protect = ResourceProtector()
protect.register_token_validator(Validator())


@app.before_request
def count():
    COUNTS[request.path] = COUNTS.get(request.path, 0) + 1


@app.get("/authorize")
def authorize():
    user = None if request.args.get("login_hint") == "nobody" else "ada"
    grant = server.get_consent_grant(end_user=user)
    return server.create_authorization_response(grant=grant, grant_user=user)


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response("revocation")


@app.get("/api/me")
@protect("read")
def me():
    return jsonify(user=current_token.user, client=current_token.client.client_id, scope=current_token.get_scope())


@app.get("/api/admin")
@protect("admin")
def admin():
    return jsonify(user=current_token.user)


@app.get("/state")
def state():
    return jsonify(counts=COUNTS, tokens=[token.values for token in TOKENS])


@app.post("/forget")
def forget():
    """Has every access token be no longer good, as a restart with another key would."""
    for token in TOKENS:
        token.is_access_revoked = True
    return jsonify()


httpd = make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True)
print("ready", flush=True)
httpd.serve_forever()
