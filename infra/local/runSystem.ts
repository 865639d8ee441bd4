import { firstRequest } from './readiness.ts';
import { localSettings } from './settings.ts';
import { Shutdown } from './shutdown.ts';
import { StartError } from './startError.ts';
import { type RunningSystem, startSystem } from './system/system.ts';

const PARENT_POLL_MILLISECONDS = 500;

const shutdown = new Shutdown();

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(0, 'Stopping …'));
  stopWithNpm();
  const startedAt = Date.now();
  const running = await startSystem(localSettings(process.env), shutdown, (line) => console.log(line));
  console.log(introduction(running, (Date.now() - startedAt) / 1000));
  await stop(1, `The table engine keeps ending: ${await running.engineCrashed}`);
}

function introduction({ credentials, dataDir, functionCount: functions }: RunningSystem, seconds: number): string {
  const { baseUrl, headerPrefix, ownerEmail, workspaceId, workspaceAuthToken, apiKey, authToken } = credentials;
  return `
${functions} functions, started in ${seconds.toFixed(1)} s. Stop with Ctrl-C.

  Data              ${dataDir} (delete it to start afresh)
  Functions' log    ${dataDir}/functions.log (saved queries: ${baseUrl}/_local/queries)
  Credentials       ${dataDir}/credentials.json
  Mail              ${dataDir}/outbox
  Start page        ${baseUrl}/
  Dashboard         ${baseUrl}/_local/dashboard
  Demo              ${baseUrl}/_local/demo?user=ada and ${baseUrl}/_local/demo?user=grace, in two windows

Demo workspace ${workspaceId} of ${ownerEmail}

  ${headerPrefix}api-key               ${apiKey}
  ${headerPrefix}auth-token            ${authToken}
  ${headerPrefix}workspace-id          ${workspaceId}
  ${headerPrefix}workspace-auth-token  ${workspaceAuthToken}

Try it:

  ${firstRequest(credentials)}

Ready: ${baseUrl}`;
}

/** npm forwards SIGTERM to this process, but not SIGKILL. If npm ends first, the id of the parent changes. */
function stopWithNpm(): void {
  if (process.env.npm_lifecycle_event !== 'start') return;
  const npm = process.ppid;
  setInterval(() => process.ppid !== npm && void stop(0, 'npm ended. Stopping …'), PARENT_POLL_MILLISECONDS).unref();
}

async function stop(exitCode: number, message: string): Promise<never> {
  (exitCode === 0 ? console.log : console.error)(message);
  await shutdown.run();
  process.exit(exitCode);
}

main().catch(async (error: unknown) => {
  // During the shutdown, parts that still start may fail.
  if (!shutdown.started)
    await stop(1, error instanceof StartError ? error.message : String((error as Error).stack ?? error));
});
