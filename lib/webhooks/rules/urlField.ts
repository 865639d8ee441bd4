import * as z from 'zod';
import { hasBlockedPort, LONGEST_URL, parseHttpUrl } from '../../net/httpUrl.ts';

/** Where deliveries go: an http(s) URL, kept as it was sent. Where its host may be is for `requireAllowedUrls`. */
export const WebhookUrl = urlOr(() => false);

/** The same, or the empty string, which clears what is stored. */
export const WebhookUrlOrNone = urlOr((text) => text === '');

function urlOr(other: (text: string) => boolean) {
  return z
    .string()
    .max(LONGEST_URL)
    .check(
      z.refine((text) => other(text) || parseHttpUrl(text) !== undefined, {
        error: 'must be a valid http(s) URL.',
        abort: true,
      }),
      z.refine((text) => other(text) || !hasBlockedPort(new URL(text)), {
        error: 'must not have a port that the Fetch standard blocks',
      }),
    );
}
