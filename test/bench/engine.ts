import { findProcesses } from '../../infra/local/processes.ts';

/** Returns the URL of the table engine of a local system. Reads it from the engine's command line. */
export async function engineOf(dataDir: string): Promise<string> {
  const [engine] = await findProcesses('--db-path', `${dataDir}/table.db`);
  const port = / --port (\d+) /.exec(engine?.command ?? '')?.[1];
  if (!port) throw new Error('The system runs no engine');
  return `http://127.0.0.1:${port}`;
}

/** Returns the headers of a table call. The engine requires a well-formed signature, but does not verify it. */
export function awsHeaders(operation: string): Record<string, string> {
  return {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-date': '20260101T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0',
  };
}
