import * as z from 'zod';
import type { MailResult } from '../../mail/rules/mailRecord.ts';

/** `unsent`: Slack has not got the request. `unanswered`: Slack may have got it. Both have the reason. */
export type SlackAnswer =
  | { readonly status: number; readonly text: string; readonly retryAfterSeconds?: number | undefined }
  | { readonly unsent: string }
  | { readonly unanswered: string };

export type Refused = Exclude<MailResult, { outcome: 'sent' }>;

/** Nothing can be sent with the token. Its owner must give another one, or other rights. */
const denials: ReadonlySet<string> = new Set([
  'account_inactive',
  'invalid_auth',
  'missing_scope',
  'not_allowed_token_type',
  'not_authed',
  'token_expired',
  'token_revoked',
]);
const passing: ReadonlySet<string> = new Set([
  'fatal_error',
  'internal_error',
  'request_timeout',
  'service_unavailable',
  'team_added_to_org',
]);
const limited: ReadonlySet<string> = new Set(['message_limit_exceeded', 'rate_limited', 'ratelimited']);

/** The webhook does not exist any more, or may not post. */
const DEAD_WEBHOOK: readonly number[] = [403, 404, 410];

const Identified = z.object({ id: z.string() });
const Body = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  ts: z.string().optional(),
  user: Identified.optional(),
  channel: z.union([z.string(), Identified]).optional(),
});
type Body = z.output<typeof Body>;

export function methodAnswer(answer: SlackAnswer): { readonly body: Body } | Refused {
  const failure = failureOf(answer);
  if (failure) return failure;
  const { status, text, retryAfterSeconds } = answer as Extract<SlackAnswer, { status: number }>;
  const body = parseBody(text);
  if (body?.ok) return { body };
  const code = codeOf(body?.error);
  const reason = `Slack answered ${code ?? `with status ${status}`}`;
  if (code === undefined) return { outcome: 'failed', reason, retry: false };
  if (limited.has(code)) return { outcome: 'throttled', reason, retryAfterSeconds };
  if (denials.has(code)) return { outcome: 'denied', reason };
  return { outcome: 'failed', reason, retry: passing.has(code) };
}

export function webhookResult(answer: SlackAnswer): MailResult {
  const failure = failureOf(answer);
  if (failure) return failure;
  const { status, text } = answer as Extract<SlackAnswer, { status: number }>;
  if (status >= 200 && status < 300) return { outcome: 'sent', messageId: '' };
  const reason = `Slack answered ${codeOf(text) ?? `with status ${status}`}`;
  return DEAD_WEBHOOK.includes(status) ? { outcome: 'denied', reason } : { outcome: 'failed', reason, retry: false };
}

function failureOf(answer: SlackAnswer): Refused | undefined {
  if ('unsent' in answer) return { outcome: 'failed', reason: `Slack: ${answer.unsent}`, retry: true };
  if ('unanswered' in answer) return { outcome: 'unknown', reason: `Slack: ${answer.unanswered}` };
  const { status, retryAfterSeconds } = answer;
  const reason = `Slack answered with status ${status}`;
  if (status === 429) return { outcome: 'throttled', reason, retryAfterSeconds };
  return status >= 500 ? { outcome: 'failed', reason, retry: true } : undefined;
}

/** The client reads the first 16 KiB. The answer to a longer message is cut off, but begins with `ok`. */
function parseBody(text: string): Body | undefined {
  try {
    return Body.safeParse(JSON.parse(text)).data;
  } catch {
    return /^\s*\{\s*"ok"\s*:\s*true\b/.test(text) ? { ok: true } : undefined;
  }
}

/** Undefined for another text, which a log should not contain. */
function codeOf(text: string | undefined): string | undefined {
  return /^[a-z_]{1,60}$/.test(text ?? '') ? text : undefined;
}
