import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { handler as getOrganizations } from '../../functions/v2/organizations/get.ts';
import { handler as getWorkspace } from '../../functions/v2/workspace/get.ts';
import { createVerifiedWorkspace, type WorkspaceCredentials } from '../../infra/workspace.ts';
import { environment } from '../../lib/capability.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../../lib/data/credentials.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { storedItem } from '../support/items.ts';
import { post } from '../support/requests.ts';

let engine: Engine;
beforeAll(async () => { engine = await startEngine(); });
afterAll(() => engine.stop());

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command as an operator does. */
function run(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  const command = fileURLToPath(new URL('../../infra/workspace.ts', import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [command, ...args], { env: { ...env, NODE_OPTIONS: '' } }, (error, stdout, stderr) => {
      resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr });
    });
  });
}

describe('npm run workspace', () => {
  test('design 3: it creates a verified workspace whose credentials work and never expire', async () => {
    const { code, stdout, stderr } = await run(['create', 'operated@example.com', '--name', 'Operated']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const credentials = JSON.parse(stdout) as WorkspaceCredentials;
    expect(Object.keys(credentials)).toEqual(['workspaceId', 'workspaceAuthToken', 'apiKey', 'authToken']);
    const shown = await post(getWorkspace, { 'x-svc-workspace-id': credentials.workspaceId, 'x-svc-workspace-auth-token': credentials.workspaceAuthToken }, {});
    expect(shown.body.result.data).toMatchObject({ name: 'Operated workspace', owner: { email: 'operated@example.com', name: 'Operated' } });
    const called = await post(getOrganizations, { 'x-svc-api-key': credentials.apiKey, 'x-svc-auth-token': credentials.authToken }, {});
    expect(called.status).toBe(200);
    expect((await storedItem(engine, WorkspaceEntity.key(credentials)))?.verifiedAt).toBeGreaterThan(0);
    const key = await storedItem(engine, ApiKeyEntity.key(credentials));
    expect(key).toBeDefined();
    expect(key).not.toHaveProperty('expiresAt');
  });

  test('design 3: an address that has a workspace is refused in one line', async () => {
    await createVerifiedWorkspace({ email: 'twice@example.com', env: environment(process.env), now: 1_800_000_000_000 });
    expect(await run(['create', 'Twice@example.com'])).toEqual({ code: 1, stdout: '', stderr: 'A workspace already exists for Twice@example.com.\n' });
  });

  test.each([
    ['no arguments', [], /^Usage: npm run workspace -- create <email>/],
    ['another command', ['delete', 'ada@example.com'], /^Usage: /],
    ['no address', ['create'], /^Usage: /],
    ['too much', ['create', 'ada@example.com', 'eve@example.com'], /^Usage: /],
    ['an unknown option', ['create', 'ada@example.com', '--mane', 'Ada'], /^Unknown option '--mane'.*\n\nUsage: /s],
    ['an option without its value', ['create', 'ada@example.com', '--name'], /^Option '--name <value>' argument missing\n\nUsage: /],
    ['something else than an address', ['create', 'ada'], /^The e-mail address "ada" is not valid: must be an e-mail address\n\nUsage: /],
    ['an empty name', ['create', 'ada@example.com', '--name', ''], /^--name "" is not valid: .*\n\nUsage: /],
  ])('conventions: with %s it explains itself and fails, without a stack trace', async (_what, args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('design 3: what AWS refuses is said in a line, without a stack trace', async () => {
    const { code, stdout, stderr } = await run(['create', 'ada@example.com'], { ...process.env, TABLE_NAME: 'elsewhere' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/table|resource/i);
  });
});

describe('createVerifiedWorkspace', () => {
  test('it gives "exists" for an address that has a workspace, and needs four settings only', async () => {
    const { TABLE_NAME, MASTER_KEY_SECRET_ARN, SIGNING_KEY_SECRET_ARN, SERVICE_NAME } = process.env;
    const env = environment({ TABLE_NAME, MASTER_KEY_SECRET_ARN, SIGNING_KEY_SECRET_ARN, SERVICE_NAME });
    const options = { email: 'demo@example.com', env, now: 1_800_000_000_000 };
    expect(await createVerifiedWorkspace(options)).toMatchObject({ workspaceAuthToken: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(await createVerifiedWorkspace(options)).toBe('exists');
  });
});
