import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../lib/shared/parseJson.ts';

const ApiCredentials = z.object({
  apiKey: z.string(),
  authToken: z.string(),
  workspaceId: z.string(),
  workspaceAuthToken: z.string(),
});
export type ApiCredentials = z.output<typeof ApiCredentials>;

const variables: Readonly<Record<keyof ApiCredentials, string>> = {
  apiKey: 'API_KEY',
  authToken: 'AUTH_TOKEN',
  workspaceId: 'WORKSPACE_ID',
  workspaceAuthToken: 'WORKSPACE_AUTH_TOKEN',
};

/**
 * Without a file, reads four environment variables if all are set, otherwise `credentials.json` in `DATA_DIR`. The
 * messages of errors contain no credentials.
 */
export async function apiCredentials(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ApiCredentials> {
  const entries = Object.entries(variables).map(([field, name]) => [field, env[name]] as const);
  if (file === undefined && entries.every(([, value]) => value !== undefined && value !== ''))
    return ApiCredentials.parse(Object.fromEntries(entries));
  const path = file ?? join(env.DATA_DIR ?? '.local', 'credentials.json');
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(
      `${path} cannot be read. Give --credentials <file>, or set ${Object.values(variables).join(', ')}.`,
    );
  });
  const json = parseJson(text);
  if (json === undefined) throw new Error(`${path} is not JSON.`);
  const parsed = ApiCredentials.safeParse(json);
  if (parsed.success) return parsed.data;
  const missing = parsed.error.issues.map(({ path: [field] }) => String(field));
  throw new Error(`${path} has no ${missing.join(', ')}.`);
}
