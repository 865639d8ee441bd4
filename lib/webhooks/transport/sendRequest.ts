import * as http from 'node:http';
import * as https from 'node:https';
import { addressAttempts } from '../../net/addressAttempts.ts';
import type { AttemptResult } from '../rules/outcome.ts';
import { retryAfterSeconds } from '../rules/retryAfter.ts';
import { type Failure, isInternalError, timeouts, toFailure } from './failures.ts';

export const RESPONSE_BYTES = 16 * 1024;
const RESPONSE_HEADER_BYTES = 16 * 1024;
/** Name lookup, connection and TLS handshake together. */
const CONNECT_MILLISECONDS = 5_000;

const TURNS_BEFORE_WRITE = 2;

export interface HttpRequest {
  readonly secure: boolean;
  readonly options: https.RequestOptions;
  readonly body: string;
}

export type HttpResult = Omit<AttemptResult, 'durationMs'>;

interface PartialResponse {
  readonly message: http.IncomingMessage;
  readonly firstByteAt: number;
  readonly chunks: Buffer[];
  bytes: number;
}

/**
 * Returns the response when it is complete or has more than 16 KiB. Returns `stale` if a reused connection ended or
 * brought a response before any byte was written, so the receiver has not seen the request.
 */
export function sendRequest(
  { secure, options, body }: HttpRequest,
  { agent, timeoutMs, now }: { agent: http.Agent | false; timeoutMs: number; now: () => number },
): Promise<HttpResult | 'stale'> {
  return new Promise((resolve, reject) => {
    const request = (secure ? https.request : http.request)({
      ...options,
      ...addressAttempts,
      agent,
      maxHeaderSize: RESPONSE_HEADER_BYTES,
      // Node's defaults, which environment variables could change.
      insecureHTTPParser: false,
      rejectUnauthorized: true,
    });
    let stage: keyof typeof timeouts = 'connecting';
    let response: PartialResponse | undefined;
    let isWritten = false;
    let connecting: NodeJS.Timeout | undefined;
    const deadline = setTimeout(() => fail(timeouts[stage]), timeoutMs);

    function end(result: HttpResult | 'stale', keepsConnection = false): void {
      clearTimeout(connecting);
      clearTimeout(deadline);
      if (!keepsConnection) request.destroy();
      resolve(result);
    }

    function fail(failure: Failure): void {
      end({ ...failure, ...(response && responseFields(response)) });
    }

    function handleError(error: Error): void {
      if (isInternalError(error)) reject(error);
      fail(toFailure(error));
    }

    function write(): void {
      if (request.destroyed) return;
      isWritten = true;
      request.end(body);
    }

    request.on('socket', (socket) => {
      if (request.reusedSocket) {
        stage = 'waiting';
        // Between two `setImmediate` callbacks, the event loop polls for input: a connection that the receiver has
        // closed is found before the first byte is written.
        afterTurns(TURNS_BEFORE_WRITE, write);
      } else {
        connecting = setTimeout(() => fail(timeouts.connecting), CONNECT_MILLISECONDS);
        socket.once(secure ? 'secureConnect' : 'connect', () => {
          clearTimeout(connecting);
          stage = 'waiting';
        });
        write();
      }
    });
    request.on('response', (message) => {
      // Some servers send a response when they close an idle connection. Before the request is written, it is not an
      // answer.
      if (!isWritten) {
        end('stale');
        return;
      }
      stage = 'reading';
      const current: PartialResponse = { message, firstByteAt: now(), chunks: [], bytes: 0 };
      response = current;
      message.on('data', (chunk: Buffer) => {
        current.chunks.push(chunk);
        current.bytes += chunk.length;
        if (current.bytes > RESPONSE_BYTES) end(toResult(current));
      });
      // A receiver that responds before the whole request is written may never read the rest, so the connection is not
      // kept.
      message.on('end', () => end(toResult(current), request.writableFinished));
      message.on('error', handleError);
    });
    // Without a listener, Node closes the connection without an `error` event, and the request would wait for its
    // deadline.
    request.on('upgrade', (message) => {
      end(isWritten ? toResult({ message, firstByteAt: now(), chunks: [], bytes: 0 }) : 'stale');
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (response?.message.complete) return;
      if (request.reusedSocket && !isWritten && !isInternalError(error)) end('stale');
      else handleError(error);
    });
  });
}

export function requestsWritten(): Promise<void> {
  return new Promise((resolve) => afterTurns(TURNS_BEFORE_WRITE + 1, resolve));
}

function afterTurns(turns: number, action: () => void): void {
  setImmediate(() => (turns > 1 ? afterTurns(turns - 1, action) : action()));
}

function toResult(response: PartialResponse): HttpResult {
  const { statusCode = 0, headers } = response.message;
  if (statusCode >= 200 && statusCode < 300) return { outcome: 'delivered', ...responseFields(response) };
  const isBusy = statusCode === 429 || statusCode === 503;
  const wait = isBusy ? retryAfterSeconds(headers['retry-after'], response.firstByteAt) : undefined;
  const error = statusCode >= 300 && statusCode < 400 ? 'redirect' : `status ${statusCode}`;
  return {
    outcome: 'failed',
    error,
    ...responseFields(response),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
  };
}

function responseFields({
  message: { statusCode = 0 },
  chunks,
  bytes,
}: PartialResponse): Pick<HttpResult, 'responseStatus' | 'responseBody'> {
  return {
    responseStatus: statusCode,
    responseBody: Buffer.concat(chunks, Math.min(bytes, RESPONSE_BYTES)),
  };
}
