import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { handler as getOrganizations } from '../../functions/v2/organizations/get.ts';
import { handler as getWorkspace } from '../../functions/v2/workspace/get.ts';
import { createVerifiedWorkspace, run, type WorkspaceCredentials } from '../../infra/workspace.ts';
import { environment } from '../../lib/capability.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../../lib/data/credentials.ts';
import { type Engine, MASTER_KEY_SECRET_ARN, SIGNING_KEY_SECRET_ARN, startEngine, TABLE_NAME } from '../support/engine.ts';
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

/** Runs the command in a process of its own, as an operator does. */
function operate(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  const command = fileURLToPath(new URL('../../infra/workspace.ts', import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [command, ...args], { env: { ...env, NODE_OPTIONS: '' } }, (error, stdout, stderr) => {
      resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr });
    });
  });
}

/** A CloudFormation that knows one stack and its outputs. */
async function startCloudFormation(stack: string, outputs: Record<string, string>): Promise<Server> {
  const members = Object.entries(outputs).map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`);
  const server = createServer(async (request, response) => {
    const asked = new URLSearchParams(await text(request)).get('StackName');
    response.setHeader('content-type', 'text/xml');
    if (asked === stack) {
      response.end(`<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${stack}</StackName><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`);
    } else {
      response.writeHead(400).end(`<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${asked} does not exist</Message></Error></ErrorResponse>`);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.env.AWS_ENDPOINT_URL_CLOUDFORMATION = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return server;
}

describe('npm run workspace', () => {
  test('design 3: it creates a verified workspace whose credentials work and never expire', async () => {
    const { code, stdout, stderr } = await operate(['create', 'operated@example.com', '--name', 'Operated']);
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
    expect(await operate(['create', 'Twice@example.com'])).toEqual({ code: 1, stdout: '', stderr: 'A workspace already exists for Twice@example.com.\n' });
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
  ])('conventions: with %s it explains itself', async (_what, args, message) => {
    await expect(run(args, process.env)).rejects.toThrow(message);
  });

  test('conventions: wrong arguments end it with code 1 and the explanation, without a stack trace', async () => {
    const { code, stdout, stderr } = await operate(['create', 'ada']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^The e-mail address/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('design 3: what AWS refuses is said in a line, without a stack trace', async () => {
    const { code, stdout, stderr } = await operate(['create', 'ada@example.com'], { ...process.env, TABLE_NAME: 'elsewhere' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(/table|resource/i);
  });
});

describe('where the settings come from', () => {
  const outputs = { TableName: TABLE_NAME, MasterKeySecretArn: MASTER_KEY_SECRET_ARN, SigningKeySecretArn: SIGNING_KEY_SECRET_ARN, ServiceName: 'stacked' };
  let cloudFormation: Server;
  afterEach(() => new Promise((closed) => { cloudFormation.close(closed); cloudFormation.closeAllConnections(); }));

  test.each([
    ['named by --stack', 'Staging', ['--stack', 'Staging']],
    ['called CollaborationBackend by default', 'CollaborationBackend', []],
  ])('design 3: from the outputs of the stack %s', async (_what, stack, args) => {
    cloudFormation = await startCloudFormation(stack, outputs);
    const created = JSON.parse(await run(['create', `${stack}@example.com`, ...args], {})) as WorkspaceCredentials;
    expect(await storedItem(engine, WorkspaceEntity.key(created))).toBeDefined();
    expect(issuerOf(created.authToken)).toBe('stacked');
  });

  test('design 3: what the environment says wins over the stack', async () => {
    cloudFormation = await startCloudFormation('CollaborationBackend', outputs);
    const created = JSON.parse(await run(['create', 'mixed@example.com'], { SERVICE_NAME: 'own' })) as WorkspaceCredentials;
    expect(issuerOf(created.authToken)).toBe('own');
  });

  test('conventions: a stack that does not exist, or has not all outputs, is named', async () => {
    cloudFormation = await startCloudFormation('Old', { TableName: TABLE_NAME });
    await expect(run(['create', 'x@example.com'], {})).rejects.toThrow('Stack with id CollaborationBackend does not exist');
    await expect(run(['create', 'x@example.com', '--stack', 'Old'], {})).rejects.toThrow('The stack Old has no output MasterKeySecretArn, and MASTER_KEY_SECRET_ARN is not set.');
  });
});

/** Who issued a signed token. */
function issuerOf(token: string): unknown {
  return (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iss: unknown }).iss;
}

describe('createVerifiedWorkspace', () => {
  test('it gives "exists" for an address that has a workspace, and needs four settings only', async () => {
    const env = environment({ TABLE_NAME, MASTER_KEY_SECRET_ARN, SIGNING_KEY_SECRET_ARN, SERVICE_NAME: 'svc' });
    const options = { email: 'demo@example.com', env, now: 1_800_000_000_000 };
    expect(await createVerifiedWorkspace(options)).toMatchObject({ workspaceAuthToken: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(await createVerifiedWorkspace(options)).toBe('exists');
  });
});
