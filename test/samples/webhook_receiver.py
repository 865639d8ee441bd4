import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from standardwebhooks.webhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
handled = set()  # In production: a table that all processes share, with the ids of the last two days.

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            body = self.rfile.read(int(self.headers["content-length"]))
            payload = webhook.verify(body, dict(self.headers))
        except Exception:
            return self.answer(400)
        if payload["webhookId"] not in handled:
            handled.add(payload["webhookId"])
            print(payload["event"], payload["data"].get("targetComment", {}).get("commentText"), flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

port = int(os.environ.get("PORT", 4000))
print(f"Waiting on http://127.0.0.1:{port}", flush=True)
ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()
