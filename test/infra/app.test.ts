import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build.ts';

const outdir = mkdtempSync(join(tmpdir(), 'app-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

/** Runs the app as the CDK CLI does: output folder and context come in the environment. */
function runApp(context: Record<string, unknown>): void {
  const environment = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) };
  execFileSync(process.execPath, ['infra/app.ts'], { cwd: projectDir, env: { ...process.env, ...environment }, stdio: 'pipe' });
}

describe('the app', () => {
  test('writes a manifest with the one root stack, where the CLI asks for it', () => {
    const { context } = JSON.parse(readFileSync(join(projectDir, 'cdk.json'), 'utf8')) as { context: Record<string, unknown> };
    runApp(context);
    const { artifacts } = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8')) as { artifacts: Record<string, { type: string }> };
    const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack').map(([id]) => id);
    expect(stacks).toEqual(['CollaborationBackend']);
  });

  test('fails on a wrong setting, naming it', () => {
    expect(() => runApp({ logRetentionDays: 31 })).toThrow(/logRetentionDays: must be one of/);
  });
});
