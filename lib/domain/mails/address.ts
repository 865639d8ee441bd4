import * as z from 'zod';

const Address = z.email().max(254);

/** Where mail for a user goes: to the address of the profile, else to the one that an event gives. Profiles hold any text: what is no address is none. */
export function mailAddressOf(...known: readonly ({ readonly email?: string | undefined } | undefined)[]): string | undefined {
  return known.map((one) => one?.email?.trim()).find((email) => Address.safeParse(email).success);
}
