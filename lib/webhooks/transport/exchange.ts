import * as http from 'node:http';
import * as https from 'node:https';
import { retryAfterSeconds } from '../rules/retryAfter.ts';
import { type Failure, failureOf, isOurFault, timeouts } from './failures.ts';

/** How much of an answer is kept; what follows is not read. */
export const ANSWER_BYTES = 16 * 1024;
const ANSWER_HEADER_BYTES = 16 * 1024;
/** Name lookup, connection and TLS handshake. */
const CONNECT_MILLISECONDS = 5_000;

/** A request, but for the connection that it takes. */
export interface Prepared {
  readonly secure: boolean;
  readonly options: https.RequestOptions;
  readonly body: string;
}

/** What came of a request. */
export interface Ended {
  /** `delivered` for a whole 2xx answer, `refused` when we do not connect there; else the attempt failed or took too long. */
  readonly outcome: 'delivered' | Failure['outcome'];
  readonly responseStatus?: number;
  /** The first 16 KiB of the answer, as they came: they are the receiver's, in any encoding, and not to be trusted. */
  readonly responseBody?: Uint8Array;
  /** What a 429 or 503 asks for. */
  readonly retryAfterSeconds?: number;
  /** A few words for the log that the customer sees; never a URL, an address or a text of the receiver's. */
  readonly error?: string;
  /** When the headers of the answer had come, epoch ms. */
  readonly firstByteAt?: number;
}

/** An answer, as far as it has come. */
interface Answer {
  readonly message: http.IncomingMessage;
  readonly firstByteAt: number;
  readonly chunks: Buffer[];
  bytes: number;
}

/**
 * Sends one request on one connection and waits for the whole answer, or its first 16 KiB. Returns `stale` when a kept connection was closed
 * before any byte of the request was written: only then is it certain that the receiver has not seen the request. Everything ends within
 * `timeoutMs`, whatever the other side does. Throws only on internal errors.
 */
export function exchange(
  { secure, options, body }: Prepared,
  { agent, timeoutMs, now }: { agent: http.Agent | false; timeoutMs: number; now: () => number },
): Promise<Ended | 'stale'> {
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request({
      ...options,
      agent,
      maxHeaderSize: ANSWER_HEADER_BYTES,
      // Said here, since the environment could say otherwise.
      insecureHTTPParser: false,
      rejectUnauthorized: true,
    });
    let stage: keyof typeof timeouts = 'connecting';
    let answer: Answer | undefined;
    let isWritten = false;
    const connecting = setTimeout(() => fail(timeouts.connecting), CONNECT_MILLISECONDS);
    const deadline = setTimeout(() => fail(timeouts[stage]), timeoutMs);

    function end(ended: Ended | 'stale', keepsConnection = false): void {
      clearTimeout(connecting);
      clearTimeout(deadline);
      if (!keepsConnection) request.destroy();
      resolve(ended);
    }

    function fail(failure: Failure): void {
      end({ ...failure, ...(answer && shown(answer)) });
    }

    function broken(error: Error): void {
      if (isOurFault(error)) reject(error);
      fail(failureOf(error));
    }

    function write(): void {
      if (request.destroyed) return;
      isWritten = true;
      request.end(body);
    }

    request.on('socket', (socket) => {
      const connected = () => {
        clearTimeout(connecting);
        stage = 'waiting';
      };
      if (request.reusedSocket) {
        connected();
        // The event loop polls once between two immediates: a close that has arrived already is noticed before the first byte is written.
        setImmediate(() => setImmediate(write));
      } else {
        socket.once(secure ? 'secureConnect' : 'connect', connected);
        write();
      }
    });
    request.on('response', (message) => {
      // Some servers announce with an answer that they close an idle connection.
      if (!isWritten) return end('stale');
      stage = 'reading';
      const coming: Answer = { message, firstByteAt: now(), chunks: [], bytes: 0 };
      answer = coming;
      message.on('data', (chunk: Buffer) => {
        coming.chunks.push(chunk);
        coming.bytes += chunk.length;
        if (coming.bytes > ANSWER_BYTES) end(judged(coming));
      });
      // Whoever answers without having read all would hold the connection for as long as it likes.
      message.on('end', () => end(judged(coming), request.writableFinished));
      message.on('error', broken);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // What follows a whole answer is no part of it; the end of that one is still to be heard.
      if (answer?.message.complete) return;
      if (request.reusedSocket && !isWritten && !isOurFault(error)) end('stale');
      else broken(error);
    });
  });
}

/** What a whole answer means: 2xx is delivered, everything else failed, redirects too (facts B8). */
function judged(answer: Answer): Ended {
  const { statusCode = 0, headers } = answer.message;
  if (statusCode >= 200 && statusCode < 300) return { outcome: 'delivered', ...shown(answer) };
  const wait =
    statusCode === 429 || statusCode === 503
      ? retryAfterSeconds(headers['retry-after'], answer.firstByteAt)
      : undefined;
  const error = statusCode >= 300 && statusCode < 400 ? 'redirect' : `status ${statusCode}`;
  return { outcome: 'failed', error, ...shown(answer), ...(wait !== undefined && { retryAfterSeconds: wait }) };
}

function shown({
  message: { statusCode = 0 },
  firstByteAt,
  chunks,
  bytes,
}: Answer): Pick<Ended, 'responseStatus' | 'responseBody' | 'firstByteAt'> {
  return {
    responseStatus: statusCode,
    responseBody: Buffer.concat(chunks, Math.min(bytes, ANSWER_BYTES)),
    firstByteAt,
  };
}
