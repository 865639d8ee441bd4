import type { ServerResponse } from 'node:http';

/** Sends a JSON response like AWS services. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'content-length': body.length }).end(body);
}

/** Sends an error in the format of AWS's JSON protocols. */
export function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { __type: `com.amazon.coral.service#${type}`, message });
}
