// @ts-check
/**
 * Runs calls in a function's thread. Plain JavaScript, because TypeScript's type stripper would double the start time.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { callAwsThrough } from './threadAws.mjs';

/** @typedef {(event: unknown, context: object) => unknown} Handler */
/** @typedef {{ call: number, instance: number, payload: string, awsRequestId: string, deadline: number }} Call */

/** @type {{ moduleUrl: string, exportName: string, context: object, awsPorts: number[] }} */
const { moduleUrl, exportName, context, awsPorts } = workerData;
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const onAwsAnswer = callAwsThrough(post, awsPorts, process.env.AWS_ACCESS_KEY_ID);

/** @type {object[]} */
let unsent = [];

/**
 * One array for the messages of one turn of the event loop, because each array wakes the main thread.
 * @param {object} message
 */
function post(message) {
  if (unsent.push(message) > 1) return;
  setImmediate(() => {
    port.postMessage(unsent);
    unsent = [];
  });
}

// Node's own streams need two messages for each line. `write` sends one at once, so the main thread gets it even if the
// handler then blocks or crashes the thread.
for (const output of /** @type {const} */ (['stdout', 'stderr'])) {
  process[output].write = (/** @type {string | Uint8Array} */ chunk, /** @type {unknown[]} */ ...args) => {
    port.postMessage([{ output, text: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() }]);
    const done = args.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
}

/** @type {Map<number, Handler>} */
const handlers = new Map();

/** @param {number} instance */
async function load(instance) {
  const handler = (await import(instance === 0 ? moduleUrl : `${moduleUrl}?instance=${instance}`))[exportName];
  if (typeof handler !== 'function') throw new Error(`${moduleUrl} exports no function ${exportName}`);
  handlers.set(instance, handler);
  post({ loaded: instance });
}

/** @param {Call} call */
async function answer({ call, instance, payload, awsRequestId, deadline }) {
  try {
    const handler = /** @type {Handler} */ (handlers.get(instance));
    const result = await handler(JSON.parse(payload), {
      ...context,
      awsRequestId,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    });
    post({ call, payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    post({ call, error: { name, message, stack } });
  }
}

port.on('message', (messages) => {
  for (const message of messages) {
    if (message.aws !== undefined) onAwsAnswer(message);
    else if (message.call !== undefined) void answer(message);
    // A failed load is not caught, so it ends the thread.
    else void load(message.load);
  }
});
await load(0);
