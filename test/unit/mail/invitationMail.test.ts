import { describe, expect, test } from '@jest/globals';
import type { Invitation } from '../../../lib/invitations/rules.ts';
import { invitationMail } from '../../../lib/mail/rendering/invitationMail.ts';
import { invitationMailContent } from '../../../lib/mail/rules/invitationMailContent.ts';

const inviter = { email: 'ada@example.com', userId: 'ada', clientUserId: 'ada' };
const invitation: Invitation = {
  type: 'doc_user',
  resourceKey: 'doc_1',
  recipient: 'hash',
  email: 'grace@example.com',
  accessRole: 'viewer',
  status: 'PENDING',
  createdAt: 0,
  invitedAt: 0,
  expiresAt: Date.UTC(2026, 11, 24),
};
const domains = ['acme.example'];
const contentOf = (changed: Partial<Invitation>, name?: string) =>
  invitationMailContent({ ...invitation, ...changed }, name, domains);

describe('the mail of an invitation', () => {
  test.each<[string, Partial<Invitation>, string | undefined, string]>([
    ['nothing', {}, undefined, 'You are invited to a document'],
    ['a name of the document', { documentName: 'NDA' }, undefined, 'You are invited to the document NDA'],
    ['the name of the inviter', { invitedBy: inviter }, 'Ada', 'Ada invited you to a document'],
    ['the address of the inviter', { invitedBy: inviter }, undefined, 'ada@example.com invited you to a document'],
    ['an organization', { type: 'org_user' }, 'Ada', 'Ada invited you to an organization'],
    ['its name', { type: 'org_user', organizationName: 'Acme' }, 'Ada', 'Ada invited you to the organization Acme'],
    ['a folder', { type: 'folder_user', folderName: 'Drafts' }, 'Ada', 'Ada invited you to the folder Drafts'],
    ['a link in a name', {}, 'Win at https://evil.example/x', 'Win at [link removed] invited you to a document'],
    ['a host in a name', { documentName: 'evil.example' }, 'Ada', 'Ada invited you to the document evil. example'],
    ['an allowed host', { documentName: 'acme.example' }, 'Ada', 'Ada invited you to the document acme.example'],
    [
      'line breaks',
      { documentName: 'a\r\nBcc: eve@x' },
      'Ada\u2028\u202e',
      'Ada invited you to the document a Bcc: eve@x',
    ],
    ['a long name', {}, 'x'.repeat(61), `${'x'.repeat(59)}… invited you to a document`],
  ])('has a headline for %s', (_what, changed, name, headline) => {
    expect(contentOf(changed, name).headline).toBe(headline);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['on an allowed domain', 'https://acme.example/join?a=1', 'https://acme.example/join?a=1'],
    ['on another domain', 'https://acme.example.evil.example/', undefined],
    ['with credentials', 'https://acme.example@evil.example/', undefined],
    ['that is no link', 'javascript:alert(1)', undefined],
    ['that was not sent', undefined, undefined],
  ])('has only a link on an allowed domain, not one %s', (_what, acceptUrl, link) => {
    expect(contentOf({ acceptUrl }).link).toBe(link);
  });

  test('escapes names in HTML, and says until when the invitation is valid', () => {
    const { html, text } = invitationMail(
      contentOf({ organizationName: '<b>"Acme"' }, '<img src=x>'),
      'grace@example.com',
    );
    expect(html).not.toMatch(/<b>|<img/);
    expect(text).toContain('The invitation is valid until 2026-12-24.');
    expect(text).not.toContain('Open the invitation');
  });
});
