import { isAllowedLink, withoutForeignLinks } from '../../content/rules/userLinks.ts';
import { type Invitation, resourceTypeOf } from '../../invitations/rules.ts';
import { oneLine } from './plainText.ts';

export interface InvitationMailContent {
  readonly headline: string;
  /** The organization, unless the headline has it. */
  readonly where: string | undefined;
  readonly link: string | undefined;
  readonly expiry: string;
}

/**
 * Names can come from users, who could advertise with them. So names and the mail have links only to allowed domains.
 */
export function invitationMailContent(
  invitation: Invitation,
  inviterName: string | undefined,
  domains: readonly string[],
): InvitationMailContent {
  const { type, organizationName, documentName, folderName, invitedBy, acceptUrl, expiresAt } = invitation;
  const shown = (text: string | undefined, most?: number) => {
    const line = oneLine(text, most);
    return line && withoutForeignLinks(line, domains);
  };
  const resourceType = resourceTypeOf[type];
  const names = { organization: organizationName, document: documentName, folder: folderName };
  const name = shown(names[resourceType]);
  const what = name ? `the ${resourceType} ${name}` : `${resourceType === 'organization' ? 'an' : 'a'} ${resourceType}`;
  const inviter = shown(inviterName, 60) ?? invitedBy?.email;
  return {
    headline: inviter ? `${inviter} invited you to ${what}` : `You are invited to ${what}`,
    where: type === 'org_user' ? undefined : shown(organizationName),
    link: acceptUrl !== undefined && isAllowedLink(acceptUrl, domains) ? acceptUrl : undefined,
    expiry: `The invitation is valid until ${new Date(expiresAt).toISOString().slice(0, 10)}.`,
  };
}
