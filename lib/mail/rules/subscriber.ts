/** Whom a link in a mail unsubscribes from the mails of what: a user, from those of an organization, by the customer's ids. */
export interface Subscriber {
  readonly tenant: string;
  readonly organizationId: string;
  readonly userId: string;
}
