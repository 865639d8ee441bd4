// @ts-check
/**
 * Sends a thread's AWS calls as messages to the main thread, which checks the role of the function. The SDK in the
 * bundle calls `http.request`, so this file replaces it.
 */
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';

/** @typedef {import('node:http').RequestOptions & { headers: Record<string, string | undefined> }} Options */
/** @typedef {{ aws: number, answer: { status: number, body: string } | undefined }} Answer */

// An import of `node:http` also loads undici, which takes 17 of the 88 ms of CPU of a start.
const http = process.getBuiltinModule('node:http');

/** A connected socket that ignores options: the SDK waits for a connection and sets options. */
const socket = Object.freeze({
  connecting: false,
  setKeepAlive() {},
  setTimeout() {},
  removeListener() {},
  destroy() {},
});

/**
 * Replaces `http.request` for calls that the SDK signed with this access key, never for requests to a customer's URL.
 * Call it before the bundle is loaded, because the bundle reads `http.request` once.
 * @param {(message: object) => void} post
 * @param {readonly number[]} awsPorts
 * @param {string | undefined} accessKeyId
 * @returns {(answer: Answer) => void} receives the answers
 */
export function callAwsThrough(post, awsPorts, accessKeyId) {
  /** @type {Map<number, AwsRequest>} */
  const waiting = new Map();
  let lastId = 0;

  class AwsRequest extends EventEmitter {
    socket = socket;
    #options;
    #id = 0;

    /** @param {Options} options */
    constructor(options) {
      super();
      this.#options = options;
    }

    /** @param {string | Uint8Array} [body] */
    end(body = '') {
      const { port: awsPort, method, path, headers } = this.#options;
      this.#id = ++lastId;
      waiting.set(this.#id, this);
      post({
        aws: this.#id,
        port: Number(awsPort),
        method,
        path,
        target: headers['x-amz-target'] ?? '',
        body: typeof body === 'string' ? body : Buffer.from(body).toString(),
      });
      return this;
    }

    destroy() {
      if (waiting.delete(this.#id)) post({ aborted: this.#id });
      this.emit('close');
      return this;
    }

    /** @param {Answer['answer']} answer */
    receive(answer) {
      if (answer) {
        const response = new Readable({ read() {} });
        response.push(answer.body);
        response.push(null);
        const headers = { 'content-type': 'application/x-amz-json-1.0' };
        this.emit('response', Object.assign(response, { statusCode: answer.status, statusMessage: '', headers }));
      } else this.emit('error', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
      this.emit('close');
    }
  }

  const { request } = http;
  /** @type {any} */
  const requestOrMessage = (/** @type {any[]} */ ...args) => {
    const [options, onResponse] = args;
    if (!isSigned(options)) return Reflect.apply(request, http, args);
    const awsRequest = new AwsRequest(options);
    if (onResponse) awsRequest.once('response', onResponse);
    return awsRequest;
  };
  http.request = requestOrMessage;
  return ({ aws, answer }) => {
    const awsRequest = waiting.get(aws);
    waiting.delete(aws);
    awsRequest?.receive(answer);
  };

  /** @param {Options | URL | string} options */
  function isSigned(options) {
    if (typeof options !== 'object' || options instanceof URL || options.host !== '127.0.0.1') return false;
    return (
      awsPorts.includes(Number(options.port)) &&
      String(options.headers?.authorization).startsWith(`AWS4-HMAC-SHA256 Credential=${accessKeyId}/`)
    );
  }
}
