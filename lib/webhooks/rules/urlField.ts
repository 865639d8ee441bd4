import * as z from 'zod';
import { hasBlockedPort, MAX_URL_CHARACTERS, parseHttpUrl } from '../../net/httpUrl.ts';
import { defineSchema } from '../../shared/schema.ts';

/** Stored as sent. `requireAllowedUrls` checks the host. */
export const WebhookUrl = /* @__PURE__ */ defineSchema(() => urlOr(() => false));

export const WebhookUrlOrNone = /* @__PURE__ */ defineSchema(() => urlOr((text) => text === ''));

function urlOr(isAllowed: (text: string) => boolean) {
  return z
    .string()
    .max(MAX_URL_CHARACTERS)
    .check(
      z.refine((text) => isAllowed(text) || parseHttpUrl(text) !== undefined, {
        error: 'must be a valid http(s) URL.',
        abort: true,
      }),
      z.refine((text) => isAllowed(text) || !hasBlockedPort(new URL(text)), {
        error: 'must not have a port that the Fetch standard blocks',
      }),
    );
}
