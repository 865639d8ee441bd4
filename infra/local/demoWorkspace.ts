import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WorkspaceCredentials } from '../commands/workspace.ts';
import { writePrivately } from './privateFile.ts';

interface Workspace extends WorkspaceCredentials {
  readonly ownerEmail: string;
}

/** The contents of `credentials.json`: all that a client needs to use the demo workspace. */
export interface DemoCredentials extends Workspace {
  readonly baseUrl: string;
  readonly headerPrefix: string;
}

export interface DemoOptions {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly serviceName: string;
  /** With what the operator reaches the local AWS. */
  readonly operatorEnvironment: Record<string, string>;
  /** Called when there is no demo workspace yet. */
  onCreation(): void;
}

/**
 * Creates the demo workspace at the first start. At every one, as addresses may differ, writes `credentials.json`, and for the operator's
 * commands `operator.json`: the environment in which they reach this run.
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
  await writePrivately(file, credentials);
  await writePrivately(join(dataDir, 'operator.json'), operatorEnvironment);
  return credentials;
}

/** In a process of its own, because the AWS SDK takes endpoints and credentials from the environment. */
async function createWorkspace(env: Record<string, string>): Promise<Workspace> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(import.meta.dirname, 'createDemoWorkspace.ts')],
    { env },
  );
  return JSON.parse(stdout) as Workspace;
}
