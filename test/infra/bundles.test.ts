import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Built, buildFunctions, DEFAULT_FUNCTION, entriesOf, projectDir } from '../../infra/build.ts';
import { synthesise } from '../../infra/synthesise.ts';
import { endpointId } from '../../lib/endpoint.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import type { Routed } from '../../lib/page.ts';
import { registered } from './endpoints.ts';

const MAX_BYTES = 520_000;
const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
const entries = entriesOf(registered);
let built: Built;
beforeAll(async () => {
  built = await buildFunctions({ entries, outdir: join(folder, 'functions') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What esbuild says of a function's bundle. */
function bundleOf(id: string) {
  const [found, ...more] = Object.entries(built.metafile.outputs).filter(([file]) => file.endsWith(`/${basename(built.folder(id))}/index.mjs`));
  if (!found || more.length > 0) throw new Error(`${id}: not exactly one bundle`);
  return { ...found[1], files: Object.keys(found[1].inputs) };
}

/** The AWS clients in a bundle. */
const clientsIn = (files: string[]) => [...new Set(files.flatMap((file) => /@aws-sdk\/(client-[a-z0-9-]+)/.exec(file)?.[1] ?? []))].sort();

const uses = (endpoint: Routed, kind: string) => capabilitiesOf(endpoint).some(({ grants }) => grants.some(({ resource }) => resource.startsWith(`${kind}/`)));

describe.each(Object.entries(entries))('the bundle of %s', (id, file) => {
  test('contains one file of functions/, its own', () => {
    expect(bundleOf(id).files.filter((name) => name.startsWith('functions/'))).toEqual([file]);
  });

  test('stays small', () => {
    expect(bundleOf(id).bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  test('exports its handler and is the only file that is uploaded', () => {
    expect(bundleOf(id).exports).toContain('handler');
    expect(readdirSync(built.folder(id))).toEqual(['index.mjs']);
  });

  test('is ECMAScript throughout: nothing is required at run time', () => {
    expect(readFileSync(join(built.folder(id), 'index.mjs'), 'utf8')).not.toContain('Dynamic require of');
  });

  test('leaves out how credentials are found outside Lambda', () => {
    expect(bundleOf(id).files.filter((name) => /credential-provider-(node|ini|sso|imds)|nested-clients/.test(name))).toEqual([]);
  });
});

describe.each(registered.map((endpoint) => [endpoint.path, endpoint] as const))('%s', (path, endpoint) => {
  test('brings no AWS client that it does not use', () => {
    const allowed = ['client-dynamodb', ...(uses(endpoint, 'secret') ? ['client-secrets-manager'] : []), ...(uses(endpoint, 'mail') ? ['client-sesv2'] : [])];
    expect(clientsIn(bundleOf(endpointId(path)).files).filter((client) => !allowed.includes(client))).toEqual([]);
  });
});

describe('the registry', () => {
  test('has no two endpoints at one path', () => {
    expect(new Set(registered.map(({ path }) => path)).size).toBe(registered.length);
  });

  test('is complete: every file below functions/v1 and functions/v2 is bundled', () => {
    const files = ['v1', 'v2'].flatMap((version) => {
      try {
        return readdirSync(join(projectDir, 'functions', version), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(projectDir.length + 1));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    });
    expect(files.sort()).toEqual(Object.entries(entries).filter(([id]) => id !== DEFAULT_FUNCTION).map(([, file]) => file).sort());
  });
});

describe('synthesise', () => {
  test('writes the same assembly twice: what did not change is not deployed again', async () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    await synthesise({ outdir: first });
    await synthesise({ outdir: second });
    const names = readdirSync(first).filter((name) => name.endsWith('.template.json') || name.startsWith('asset.'));
    expect(readdirSync(second)).toEqual(expect.arrayContaining(names));
    expect(names.filter((name) => name.startsWith('asset.'))).toHaveLength(Object.keys(entries).length);
    for (const name of names.filter((candidate) => candidate.endsWith('.json'))) {
      expect(readFileSync(join(second, name), 'utf8')).toBe(readFileSync(join(first, name), 'utf8'));
    }
  });

  test('takes settings over those of cdk.json, and refuses wrong ones by name', async () => {
    const { assemblyDir } = await synthesise({ outdir: join(folder, 'named'), settings: { serviceName: 'acme', workspaceCreation: 'open' } });
    const template = JSON.parse(readFileSync(join(assemblyDir, 'CollaborationBackend.template.json'), 'utf8'));
    expect(template.Resources.Unmatched.Properties.Environment.Variables).toEqual({ SERVICE_NAME: 'acme' });
    await expect(synthesise({ outdir: join(folder, 'wrong'), settings: { serviceName: 'A' } })).rejects.toThrow('serviceName: must be');
  });
});
