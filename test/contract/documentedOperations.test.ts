import { describe, expect, test } from '@jest/globals';
import { registeredEndpoints } from '../../infra/build/registry.ts';

/** The operations that the documentation of this interface and its published clients name, by family. */
const documented: Readonly<Record<string, string>> = {
  '/v1/organizations/documents/':
    'add get update delete move access/update access/disablestate/update locations/data/delete locations/update',
  '/v2/organizations/documents/':
    'add get update delete move access/update access/disablestate/update count/get migrate migrate/status',
  '/v1/users/': 'add get update delete data/get data/delete data/delete/status',
  '/v2/users/':
    'add get update delete count/get doc/get invite/add invite/respond invite/get invitations/get invite/pending/count ' +
    'data/get data/delete data/delete/status',
  '/v1/workspace/': 'domains/add domains/delete',
  '/v2/workspace/':
    'create get apikey/create apikey/update apikey/copy apikeys/get authtokens/get authtoken/reset authtoken/ensure ' +
    'apikeyconfig/get apikeyconfig/update apikeymetadata/get apikeymetadata/update ' +
    'domains/get domains/add domains/delete domains/request requested/domains/get additional-url-request ' +
    'email/status email/send-login-link webhookconfig/get webhookconfig/update emailconfig/get emailconfig/update ' +
    'notificationconfig/get notificationconfig/update activityconfig/get activityconfig/update ' +
    'permissionproviderconfig/get permissionproviderconfig/update ' +
    'advancedwebhookconfig/get advancedwebhookconfig/update advancedwebhook/endpoints/create ' +
    'advancedwebhook/endpoints/get advancedwebhook/endpoints/update advancedwebhook/endpoints/delete ' +
    'advancedwebhook/endpoints/secret/get',
  '/v2/agents/':
    'create get update delete extract version/update versions/list versions/restore groups/create groups/get ' +
    'groups/list groups/update groups/delete groups/add-agents groups/remove-agents execution/run execution/get ' +
    'execution/list execution/count analytics/get config/resolve prompt/enhance prompt/validate prompt/refine',
  '/v2/memory/':
    'search judgments/query ask suggest stats/get patterns/get profiles/get knowledge/upload-url knowledge/ingest ' +
    'knowledge/ingest-status knowledge/list knowledge/rules knowledge/search knowledge/update knowledge/download ' +
    'knowledge/delete alerts/list alerts/dismiss alerts/action alerts/config/get alerts/config/update ' +
    'consolidation/trigger consolidation/seed-active-api-keys backfill/judgments',
};

/** By reason. */
const notBuilt: Readonly<Record<string, readonly string[]>> = {
  'agents are stored, but do not run': [
    ...['run', 'get', 'list', 'count'].map((name) => `/v2/agents/execution/${name}`),
    '/v2/agents/analytics/get',
    '/v2/agents/config/resolve',
    ...['enhance', 'validate', 'refine'].map((name) => `/v2/agents/prompt/${name}`),
  ],
  'the memory has judgments, but no knowledge and no answers that a model writes': [
    ...['ask', 'suggest', 'stats/get', 'patterns/get', 'profiles/get'].map((name) => `/v2/memory/${name}`),
    ...['upload-url', 'ingest', 'ingest-status', 'list', 'rules', 'search', 'update', 'download', 'delete'].map(
      (name) => `/v2/memory/knowledge/${name}`,
    ),
    ...['list', 'dismiss', 'action', 'config/get', 'config/update'].map((name) => `/v2/memory/alerts/${name}`),
  ],
  'only operators of the other system call it': [
    '/v2/memory/consolidation/trigger',
    '/v2/memory/consolidation/seed-active-api-keys',
    '/v2/memory/backfill/judgments',
  ],
};

const registered = new Set<string>(registeredEndpoints().map(({ path }) => path));
const missing = Object.values(notBuilt).flat();
const operations = Object.entries(documented).flatMap(([family, names]) =>
  names.split(' ').map((name) => `${family}${name}`),
);

describe('the documented operation', () => {
  test.each(operations.filter((path) => !missing.includes(path)))('%s exists', (path) => {
    expect(registered.has(path)).toBe(true);
  });
});

test.each(missing)('%s is documented, and leaves the list of missing operations when it is built', (path) => {
  expect([operations.includes(path), registered.has(path)]).toEqual([true, false]);
});
