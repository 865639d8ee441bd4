import { describe, expect, test } from '@jest/globals';
import { MailAddress, mailAddressOf } from '../../../lib/shared/mailAddress.ts';
import { MAILABLE, NOT_MAILABLE } from '../../support/mailAddresses.ts';

describe('MailAddress', () => {
  test.each(MAILABLE)('accepts %j, and has the domain in punycode', (text, mailed) => {
    expect(MailAddress.parse(text)).toBe(mailed);
    expect(mailAddressOf({ email: text })).toBe(mailed);
  });

  test.each(NOT_MAILABLE)('refuses %j', (text) => {
    expect(MailAddress.safeParse(text).error?.issues[0]?.message).toMatch(/must be an e-mail address|Too big/);
  });
});
