// @ts-check
/**
 * The code of a function's thread: loads the bundle and processes calls, several at the same time. Plain JavaScript,
 * because loading TypeScript's type stripper would double the start time.
 */
import { parentPort, workerData } from 'node:worker_threads';

/** @type {{ moduleUrl: string, exportName: string, context: object }} */
const { moduleUrl, exportName, context } = workerData;
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);

const handler = (await import(moduleUrl))[exportName];
if (typeof handler !== 'function') throw new Error(`${moduleUrl} exports no function ${exportName}`);

/** @param {{ id: number, payload: string, awsRequestId: string, deadline: number }} call */
async function answer({ id, payload, awsRequestId, deadline }) {
  try {
    const result = await handler(JSON.parse(payload), {
      ...context,
      awsRequestId,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    });
    port.postMessage({ id, payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    port.postMessage({ id, error: { name, message, stack } });
  }
}

port.on('message', answer);
port.postMessage('ready');
