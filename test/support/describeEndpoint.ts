import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { forAllTests } from './acmeWorld.ts';
import { costOfCalls, type Recorder, startRecorder } from './capacity.ts';
import { checksOf, documentOf } from './documented.ts';
import { startEngine } from './engine.ts';
import { handlerOf, importDeclarations } from './functionHandlers.ts';
import { type Headers, post, type Response, resultOf } from './requests.ts';
import { withStillClock } from './stillClock.ts';
import { userHeadersOf } from './userCaller.ts';
import { headersOf, newWorkspace, type TestWorkspace } from './workspaces.ts';

/** Sends `data` to an endpoint with the credentials of its level. Throws unless the endpoint answers with 200. */
type Send = (path: string, data: object, headers?: Headers) => Promise<Response>;

/** The calls of one endpoint, in the file below `test/endpoints` that is named after its path. */
export interface EndpointCases {
  /** Documents of the organization `acme` that exist before `prepare`. */
  readonly documents?: readonly string[];
  /**
   * Creates, through other endpoints, the items that the requests need. Their names can be `text`.
   */
  readonly prepare: (send: Send, text: string) => Promise<void>;
  /** Returns the `data` of a request that succeeds. `n` differs for each request, so that ids can be unique. */
  readonly data: (n: number) => object;
}

const TEXT = 'a-name';

/** Declares the tests of each endpoint: a documented answer, and cost. All share one engine. */
export function describeEndpoints(endpoints: ReadonlyMap<string, EndpointCases>): void {
  forAllTests(startEngine);
  const recorder = forAllTests(startRecorder);
  for (const [path, cases] of endpoints) describe(`POST ${path}`, () => declareTests(path, cases, recorder));
}

function declareTests(path: string, { documents, prepare, data }: EndpointCases, recorder: Recorder): void {
  const declared = forAllTests(async () => {
    const endpoint = await endpointAt(path);
    return { endpoint, ...checksOf(documentOf([endpoint])) };
  });
  const owner = forAllTests(async () => {
    const workspace = await newWorkspace();
    const send: Send = async (to, sent, headers) => {
      const answer = await sendAs(workspace, to, sent, headers);
      resultOf(answer, to);
      return answer;
    };
    if (documents)
      await send('/v2/organizations/documents/add', {
        organizationId: 'acme',
        createOrganization: true,
        documents: documents.map((documentId) => ({ documentId, documentName: TEXT })),
      });
    await prepare(send, TEXT);
    return workspace;
  });
  let requests = 0;

  const sendNext = () => sendAs(owner, path, data(requests++));

  test('answers as documented', async () => {
    const answer = await sendNext();
    declared.expectDocumented(declared.endpoint, answer);
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  });

  test('costs as many calls and units as declared', async () => {
    const { result, calls: recorded } = await withStillClock(async () => {
      // The second request uses values that the first one cached for a few seconds.
      await sendNext();
      return recorder.record(() => sendNext());
    });
    expect(result.status).toBe(200);
    const { calls, roundTrips, readUnits, writeUnits } = costOfCalls(
      declared.endpoint.freshCredentials ? recorded.slice(1) : recorded,
    );
    expect({ calls, roundTrips, readUnits, writeUnits }).toEqual(declared.endpoint.cost);
  });
}

async function endpointAt(path: string): Promise<Endpoint> {
  return (await importDeclarations(path)).endpoint!;
}

async function sendAs(workspace: TestWorkspace, ...[path, data, headers = {}]: Parameters<Send>): Promise<Response> {
  const { auth } = await endpointAt(path);
  const own = auth === 'user' ? await userHeadersOf(workspace) : headersOf(workspace)[auth];
  return post(handlerOf(path), { ...own, ...headers }, data);
}

/**
 * Returns whether an endpoint has its calls in its own file. Tests that have tables of all endpoints skip such an
 * endpoint.
 */
export function hasOwnCases(path: string): boolean {
  return existsSync(join(import.meta.dirname, `../endpoints${path}.ts`));
}
