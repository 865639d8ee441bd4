import { beforeAll, expect, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { startEngine } from '../support/engine.ts';
import { handlerOf } from '../support/functionHandlers.ts';
import { post } from '../support/requests.ts';
import { allHeadersOf } from '../support/userCaller.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { cases } from './cases.ts';

forAllTests(startEngine);
const headers = forAllTests(async () => allHeadersOf(await newWorkspace()));
beforeAll(async () => {
  // In the second round, each example finds the data of all others.
  for (const [path] of [...keeping, ...keeping]) await callExample(path);
  await startFolderJobs();
});

const examples = new Map<string, Endpoint>(cases);
const keeping = cases.filter(([path]) => !/delete|remove|disablestate/.test(path));
const deleting = cases.filter(([path]) => !keeping.some(([kept]) => kept === path));

async function callExample(path: string) {
  const { auth, example } = examples.get(path)!;
  return post(handlerOf(path), headers[auth], example.data);
}

/**
 * Moves the folder that contains the document of the examples, and removes a user from the folder. No test runs the jobs of these
 * changes, so readers must query the recorded changes.
 */
async function startFolderJobs(): Promise<void> {
  const acme = { organizationId: 'acme' };
  const [folder, user] = [{ folderId: 'shelf' }, { userId: 'bob' }];
  const calls: [path: string, data: object][] = [
    ['/organizations/add', { organizations: [acme] }],
    ['/organizations/access/disablestate/update', { organizationIds: ['acme'], disabled: false }],
    ['/organizations/folders/add', { ...acme, folders: [folder, { folderId: 'room' }] }],
    ['/organizations/documents/add', { ...acme, ...folder, documents: [{ documentId: 'nda' }] }],
    ['/organizations/documents/access/disablestate/update', { ...acme, documentIds: ['nda'], disabled: false }],
    ['/organizations/documents/move', { ...acme, ...folder, documentIds: ['nda'] }],
    ['/users/add', { ...acme, ...folder, users: [user] }],
    ['/users/delete', { ...acme, ...folder, userIds: [user.userId] }],
    ['/organizations/folders/update', { ...acme, folders: [{ ...folder, parentFolderId: 'room' }] }],
  ];
  for (const [path, data] of calls) {
    const answer = await post(handlerOf(`/v2${path}`), headers.apiKey, data);
    expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
  }
}

test.each(keeping)('%s grants its function all reads that it needs while a folder is changed', async (path) => {
  expect((await callExample(path)).body.error?.status).not.toBe('INTERNAL');
});

test.each(deleting)('%s grants its function all reads that it needs while a folder is changed', async (path) => {
  await startFolderJobs();
  expect((await callExample(path)).body.error?.status).not.toBe('INTERNAL');
});
