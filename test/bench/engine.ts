import { request } from 'undici';
import { findProcesses } from '../../infra/local/processes.ts';

/** Returns the URL of the table engine of a local system. Reads it from the engine's command line. */
export async function engineOf(dataDir: string): Promise<string> {
  const [engine] = await findProcesses('--db-path', `${dataDir}/table.db`);
  const [, host, port] = / --host (\S+) --port (\d+) /.exec(engine?.command ?? '') ?? [];
  if (!port) throw new Error('The system runs no engine');
  return `http://${host}:${port}`;
}

/**
 * Posts JSON on a connection that stays open. Returns the answer, which must be successful. It takes less CPU time than
 * `fetch`.
 */
export async function postJson(url: string, headers: Record<string, string>, data: object): Promise<any> {
  const { statusCode, body } = await request(url, { method: 'POST', headers, body: JSON.stringify(data) });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${text}`);
  return JSON.parse(text || '{}');
}

/** Makes a call of the table engine. */
export function callEngine(url: string, operation: string, input: object): Promise<any> {
  return postJson(url, awsHeaders(operation), input);
}

/** Returns the headers of a table call. The engine requires a well-formed signature, but does not verify it. */
function awsHeaders(operation: string): Record<string, string> {
  return {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-date': '20260101T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0',
  };
}
