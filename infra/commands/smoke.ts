/** `npm run smoke`: sends the examples of the endpoints to a deployment, and prints the result of each step. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { callSender, ServiceError } from '../../lib/client/calls.ts';
import { registeredEndpoints } from '../build/registry.ts';
import { type ApiCredentials, apiCredentials } from './apiCredentials.ts';
import { columns } from './columns.ts';
import { messageOf, runCommand } from './operator.ts';
import { setAlarm } from './smoke/alarm.ts';
import { ExampleValues, orderExamples, requestsBefore } from './smoke/examples.ts';
import { type SmokeOptions, smokeOptions, USAGE } from './smoke/options.ts';

const TIMEOUT_MILLISECONDS = 35_000;
const PATIENCE_MILLISECONDS = 60_000;
const POLL_MILLISECONDS = 250;
const SMOKE_KEY_NAME = 'npm run smoke';
const MAIL_ORGANIZATION = 'smoke-mail';
const SIMULATOR = 'success@simulator.amazonses.com';

/** Examples contain these values. A run replaces them by its own. */
const EXAMPLE_KEYS = ['key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD'];
const EXAMPLE_TOKENS = ['<signed token>', 'the token of the headers'];

const WORKSPACE = '/v2/workspace';
const ADVANCED = `${WORKSPACE}/advancedwebhook`;

const skippedExamples: Readonly<Record<string, string>> = {
  [`${WORKSPACE}/create`]: 'creates a workspace, which no endpoint deletes',
  [`${WORKSPACE}/apikey/create`]: 'the first run calls it',
  [`${WORKSPACE}/apikey/copy`]: 'needs two API keys',
  [`${WORKSPACE}/authtoken/reset`]: 'called before the examples',
  '/v2/live/connect': 'needs a user token and the setting live',
  '/v2/live/changes': 'needs a user token and the setting live',
};

interface StepResult {
  readonly step: string;
  readonly result: 'ok' | 'failed' | 'skipped';
  readonly milliseconds?: number;
  readonly detail?: string;
}

export interface SmokeReport {
  readonly text: string;
  readonly failed: number;
}

/**
 * Returns a table of the results, and the number of failed steps. Deletes data such as organizations at the end, also
 * after a failure. The API key of the run stays.
 */
export async function runSmoke(options: SmokeOptions): Promise<SmokeReport> {
  const workspace = await apiCredentials(options.credentialsFile);
  const loopback = options.receiver === undefined && isLoopback(options.baseUrl) ? await startReceiver() : undefined;
  try {
    const run = new SmokeRun(options, workspace, options.receiver ?? loopback?.url);
    await run.execute();
    return run.report();
  } finally {
    loopback?.stop();
  }
}

class SmokeRun {
  readonly #options: SmokeOptions;
  readonly #workspace: ApiCredentials;
  readonly #receiver: string | undefined;
  readonly #endpoints = new Map(registeredEndpoints().map((endpoint) => [endpoint.path as string, endpoint]));
  readonly #results: StepResult[] = [];
  #key = { apiKey: '', authToken: '' };
  #ownerEmail = '';
  #values = new ExampleValues();

  constructor(options: SmokeOptions, workspace: ApiCredentials, receiver: string | undefined) {
    this.#options = options;
    this.#workspace = workspace;
    this.#receiver = receiver;
  }

  async execute(): Promise<void> {
    if (!(await this.#step('API key of the run', () => this.#openKey()))) return;
    await this.#step('deletion of the data of an earlier run', () => this.#deleteData());
    try {
      await this.#step('mail', () => this.#requestMail());
      // A twin shares the function of its endpoint.
      const paths = [...this.#endpoints].flatMap(([path, { twinOf }]) => (twinOf === undefined ? [path] : []));
      for (const path of orderExamples(paths)) await this.#runExample(path);
      await this.#testAlarm();
    } finally {
      await this.#step('deletion', () => this.#deleteData());
    }
  }

  report(): SmokeReport {
    const failed = this.#results.filter(({ result }) => result === 'failed').length;
    const rows = this.#results.map(({ step, result, milliseconds, detail = '' }) => [
      step,
      result,
      milliseconds === undefined ? '' : `${Math.round(milliseconds)} ms`,
      detail,
    ]);
    const ok = this.#results.filter(({ result }) => result === 'ok').length;
    const summary = `${ok} steps ok, ${failed} failed, ${this.#results.length - ok - failed} skipped.`;
    return { text: `${columns(rows)}\n\n${summary}`, failed };
  }

  async #step(step: string, execute: () => Promise<unknown>): Promise<boolean> {
    const begin = performance.now();
    try {
      const detail = await execute();
      const milliseconds = performance.now() - begin;
      this.#results.push({ step, result: 'ok', milliseconds, ...(typeof detail === 'string' && { detail }) });
      return true;
    } catch (error) {
      const id = error instanceof ServiceError ? error.requestId : undefined;
      this.#results.push({
        step,
        result: 'failed',
        milliseconds: performance.now() - begin,
        detail: `${messageOf(error as Error)}${id === undefined ? '' : ` (request ${id})`}`,
      });
      return false;
    }
  }

  #skip(step: string, detail: string): void {
    this.#results.push({ step, result: 'skipped', detail });
  }

  /** Uses the API key of an earlier run again, because no endpoint deletes API keys. */
  async #openKey(): Promise<void> {
    const { owner } = await this.#send(`${WORKSPACE}/get`, {});
    this.#ownerEmail = owner.email;
    let apiKey = await this.#findKey();
    if (apiKey === undefined) {
      const fields = { ownerEmail: owner.email, type: 'testing', apiKeyName: SMOKE_KEY_NAME };
      ({ apiKey } = await this.#send(`${WORKSPACE}/apikey/create`, fields));
    }
    const { newAuthToken } = await this.#send(`${WORKSPACE}/authtoken/reset`, { apiKey });
    this.#key = { apiKey, authToken: newAuthToken.token };
    this.#values = new ExampleValues({
      ...Object.fromEntries(EXAMPLE_KEYS.map((key) => [key, this.#key.apiKey])),
      ...Object.fromEntries(EXAMPLE_TOKENS.map((token) => [token, this.#key.authToken])),
      'ada@example.com': SIMULATOR,
      'grace@example.com': SIMULATOR,
      'bob@example.com': SIMULATOR,
    });
    await this.#send(`${WORKSPACE}/advancedwebhookconfig/update`, { isEnabled: true });
  }

  async #findKey(): Promise<string | undefined> {
    let pageToken: string | null | undefined = undefined;
    do {
      const page = await this.#post(`${WORKSPACE}/apikeys/get`, { ...(pageToken != null && { pageToken }) });
      const keys = page.data as { id: string; apiKeyName: string }[];
      const key = keys.find(({ apiKeyName }) => apiKeyName === SMOKE_KEY_NAME);
      if (key) return key.id;
      pageToken = page.nextPageToken as string | null | undefined;
    } while (pageToken != null);
    return undefined;
  }

  /** Waits for the in-app notification of the same event, because the API does not show mails. */
  async #requestMail(): Promise<string> {
    const organizationId = MAIL_ORGANIZATION;
    const documentId = 'letter';
    const author = { userId: 'author', name: 'Author' };
    const reader = { userId: 'reader', name: 'Reader', email: SIMULATOR };
    await this.#send(`${WORKSPACE}/emailconfig/update`, emailConfig);
    await this.#send(`${WORKSPACE}/notificationconfig/update`, { useNotificationService: true });
    // The example of `apikeyconfig/update`, which an earlier run may have sent, makes new documents restricted. Users
    // who cannot open a document get no mails about it.
    await this.#send(`${WORKSPACE}/apikeyconfig/update`, { defaultDocumentAccessType: 'public' });
    await this.#send('/v2/organizations/add', { organizations: [{ organizationId }] });
    await this.#send('/v2/users/add', { organizationId, users: [author, reader] });
    await this.#send('/v2/organizations/documents/add', { organizationId, documents: [{ documentId }] });
    const comment = {
      commentText: 'A mail of npm run smoke',
      from: author,
      taggedUserContacts: [{ userId: reader.userId, text: '@Reader' }],
      triggerNotification: true,
    };
    await this.#send('/v2/commentannotations/add', {
      organizationId,
      documentId,
      commentAnnotations: [{ annotationId: 'mail', commentData: [comment] }],
    });
    await this.#waitFor('the notification of the comment', async () => {
      const { data } = await this.#post('/v2/notifications/get', { organizationId, userId: reader.userId });
      return (data as readonly unknown[]).length > 0;
    });
    return `requested for ${SIMULATOR}. The API does not show whether SES accepted it: see the alarms of mail.`;
  }

  async #runExample(path: string): Promise<void> {
    const reason = skippedExamples[path];
    if (reason !== undefined) {
      this.#skip(path, reason);
      return;
    }
    const endpoint = this.#endpoints.get(path);
    if (!endpoint) throw new Error(`No endpoint has the path ${path}`);
    await this.#step(path, async () => {
      for (const [requestPath, data] of requestsBefore[path] ?? []) await this.#post(requestPath, data);
      const data = { ...(this.#values.fill(endpoint.example.data) as object), ...this.#changesOf(path) };
      const result = await this.#post(path, data);
      this.#values.recordAnswer(endpoint.example.result, result);
      requireDocumented(endpoint, result);
    });
    if (path === `${ADVANCED}/endpoints/test`) {
      if (this.#receiver === undefined) this.#skip('webhook', 'needs --receiver');
      else await this.#step('webhook', () => this.#waitForWebhook());
    }
  }

  #changesOf(path: string): object {
    const changes: Readonly<Record<string, object>> = {
      [`${WORKSPACE}/apikey/update`]: { apiKeyName: SMOKE_KEY_NAME },
      [`${WORKSPACE}/email/send-login-link`]: { continueUrl: this.#options.baseUrl },
      [`${WORKSPACE}/email/status`]: { ownerEmail: this.#ownerEmail },
      [`${WORKSPACE}/emailconfig/update`]: emailConfig,
      [`${ADVANCED}/endpoints/create`]: { ...(this.#receiver !== undefined && { url: this.#receiver }) },
      [`${ADVANCED}/endpoints/recover`]: { since: new Date(Date.now() - 3_600_000).toISOString() },
    };
    return changes[path] ?? {};
  }

  async #waitForWebhook(): Promise<string> {
    const { data } = this.#endpoints.get(`${ADVANCED}/attempts/get`)?.example ?? {};
    let last = 'no attempt';
    await this.#waitFor(
      'an attempt with a status of 200 to 299',
      async () => {
        const { attempts } = await this.#send(`${ADVANCED}/attempts/get`, this.#values.fill(data) as object);
        const statuses = attempts.map(({ responseStatus = 0 }) => responseStatus);
        if (statuses.length > 0) last = `status ${statuses.join(', ')}`;
        return statuses.some((status) => status >= 200 && status < 300);
      },
      () => last,
    );
    return `delivered to ${new URL(this.#receiver ?? '').host}`;
  }

  async #testAlarm(): Promise<void> {
    const stack = this.#options.alarmStack;
    if (stack === undefined) {
      this.#skip('alarm', 'needs --alarm');
      return;
    }
    await this.#step('alarm', () => setAlarm(stack));
  }

  async #deleteData(): Promise<void> {
    const organizations = (await this.#post('/v2/organizations/get', {})).data as readonly Identified[];
    if (organizations.length > 0)
      await this.#send('/v2/organizations/delete', { organizationIds: organizations.map(({ id }) => id) });
    const { groups } = await this.#send('/v2/agents/groups/list', {});
    for (const { id } of groups) await this.#send('/v2/agents/groups/delete', { groupId: id });
    const { agents } = await this.#send('/v2/agents/get', { filter: 'customOnly' });
    for (const { id } of agents) await this.#send('/v2/agents/delete', { agentId: id });
    const { endpoints } = await this.#send(`${ADVANCED}/endpoints/get`, {});
    for (const { id } of endpoints) await this.#send(`${ADVANCED}/endpoints/delete`, { endpointId: id });
    const { allowedDomains: domains } = await this.#send(`${WORKSPACE}/domains/get`, {});
    if (domains.length > 0) await this.#send(`${WORKSPACE}/domains/delete`, { domains });
    await this.#send(`${WORKSPACE}/webhookconfig/update`, { useWebhookService: false });
    await this.#send(`${WORKSPACE}/emailconfig/update`, { useEmailService: false });
    await this.#send(`${WORKSPACE}/chatconfig/update`, { useChatService: false });
    await this.#send(`${WORKSPACE}/permissionproviderconfig/update`, { usePermissionProvider: false });
  }

  async #waitFor(awaited: string, isDone: () => Promise<boolean>, describe = () => 'nothing'): Promise<void> {
    const end = performance.now() + PATIENCE_MILLISECONDS;
    while (!(await isDone())) {
      if (performance.now() > end)
        throw new Error(`Waited ${PATIENCE_MILLISECONDS / 1_000} s for ${awaited}. Found ${describe()}.`);
      await sleep(POLL_MILLISECONDS);
    }
  }

  async #send(path: string, data: object): Promise<AnswerData> {
    return (await this.#post(path, data)).data as AnswerData;
  }

  async #post(path: string, data: object): Promise<Record<string, unknown>> {
    const { baseUrl } = this.#options;
    const settings = { baseUrl, attempts: 1, timeoutMilliseconds: TIMEOUT_MILLISECONDS };
    const send = callSender(settings, () => Promise.resolve(this.#headersOf(path)));
    return (await send({ path, repeats: false }, data)) as Record<string, unknown>;
  }

  #headersOf(path: string): Record<string, string> {
    const prefix = `x-${this.#options.serviceName}-`;
    const { workspaceId, workspaceAuthToken } = this.#workspace;
    const { apiKey, authToken } = this.#key;
    const auth = this.#endpoints.get(path)?.auth;
    if (auth === 'workspace')
      return { [`${prefix}workspace-id`]: workspaceId, [`${prefix}workspace-auth-token`]: workspaceAuthToken };
    return auth === 'apiKey' ? { [`${prefix}api-key`]: apiKey, [`${prefix}auth-token`]: authToken } : {};
  }
}

const emailConfig = { useEmailService: true, emailServiceConfig: { type: 'default', fromCompany: 'Smoke test' } };

interface Identified {
  readonly id: string;
}

interface AnswerData {
  readonly agents: readonly Identified[];
  readonly allowedDomains: readonly string[];
  readonly apiKey: string;
  readonly attempts: readonly { readonly responseStatus?: number }[];
  readonly endpoints: readonly Identified[];
  readonly groups: readonly Identified[];
  readonly newAuthToken: { readonly token: string };
  readonly owner: { readonly email: string };
}

function requireDocumented({ output }: Endpoint, result: unknown): void {
  const { error } = output.safeParse(result);
  const [issue] = error?.issues ?? [];
  if (issue) throw new Error(`The answer is not as documented: ${issue.path.join('.')}: ${issue.message}`);
}

function isLoopback(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

async function startReceiver(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/smoke`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

if (import.meta.main) {
  await runCommand(USAGE, async (args) => {
    const { text, failed } = await runSmoke(smokeOptions(args));
    if (failed > 0) process.exitCode = 1;
    return text;
  });
}
