import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WorkspaceCredentials } from '../commands/workspace.ts';
import { writePrivateJson } from './privateFile.ts';

interface Workspace extends WorkspaceCredentials {
  readonly ownerEmail: string;
}

export interface DemoCredentials extends Workspace {
  readonly baseUrl: string;
  readonly headerPrefix: string;
}

export interface DemoOptions {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly serviceName: string;
  /** Gives the operator's commands access to the local AWS endpoint. */
  readonly operatorEnvironment: Record<string, string>;
  readonly onCreation: () => void;
}

/**
 * Creates the demo workspace at the first start. Ports may change, so every start writes `credentials.json`, and
 * `operator.json` for the operator's commands.
 */
export async function ensureDemoWorkspace({
  dataDir,
  baseUrl,
  serviceName,
  operatorEnvironment,
  onCreation,
}: DemoOptions): Promise<DemoCredentials> {
  const file = join(dataDir, 'credentials.json');
  const stored = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Workspace) : undefined;
  if (!stored) onCreation();
  const { ownerEmail, workspaceId, workspaceAuthToken, apiKey, authToken } =
    stored ?? (await createWorkspace(operatorEnvironment));
  const credentials = {
    baseUrl,
    headerPrefix: `x-${serviceName}-`,
    ownerEmail,
    workspaceId,
    workspaceAuthToken,
    apiKey,
    authToken,
  };
  await writePrivateJson(file, credentials);
  await writePrivateJson(join(dataDir, 'operator.json'), operatorEnvironment);
  return credentials;
}

/** The AWS SDK of the child process reads endpoints and credentials from environment variables. */
async function createWorkspace(env: Record<string, string>): Promise<Workspace> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(import.meta.dirname, 'createDemoWorkspace.ts')],
    { env: { ...env, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } },
  );
  return JSON.parse(stdout) as Workspace;
}
