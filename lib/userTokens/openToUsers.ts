import type { UserCaller } from '../app/callers.ts';
import { type Capability, combine } from '../app/capability.ts';
import type { CleanMarkup, ContentPolicy, UserRule } from '../app/rules/userRule.ts';
import type { OpenToUsers, UserAccessChecker, UserTokenCaller } from '../app/userRule.ts';
import { distinct } from '../shared/collections.ts';
import { type ApiError, invalid } from '../shared/errors.ts';
import { limits } from '../shared/schema.ts';
import { completeActor, fillActor, omitFields, requireAbsent } from './rules/actor.ts';
import { namedResources } from './rules/namedResources.ts';
import { completePeople, type NamedPerson, peopleIn } from './rules/people.ts';
import { cleanUserContent } from './rules/userContent.ts';
import { userAccess, type UserAccessReader } from './userAccess.ts';
import { type UserCredentials, userCredentials } from './userCredentials.ts';

/** Each person costs two read units or more. */
const MAX_PEOPLE = limits.list;

function tooManyPeople({ at }: NamedPerson): ApiError {
  const message = `${at.join('.')}: a call with a user token must not name more than ${MAX_PEOPLE} users`;
  return invalid({ path: [...at], code: 'too_many_users', message });
}

class TokenAccessChecker implements UserAccessChecker {
  readonly #credentials: UserCredentials;
  readonly #access: UserAccessReader;

  constructor(credentials: UserCredentials, access: UserAccessReader) {
    this.#credentials = credentials;
    this.#access = access;
  }

  readToken: UserAccessChecker['readToken'] = async (headers, options) => this.#credentials.read(headers, options);

  fillActor(rule: UserRule, { claims }: UserTokenCaller, data: unknown): unknown {
    requireAbsent(data, rule.refuses ?? []);
    return fillActor(omitFields(data, rule.omits ?? []), rule.actor ?? [], claims);
  }

  async cleanContent(data: unknown, policy: ContentPolicy): Promise<void> {
    await cleanUserContent(data, policy);
  }

  async checkAccess(
    rule: UserRule,
    caller: UserTokenCaller,
    input: unknown,
    options: { readonly now: number; readonly fresh: boolean },
  ): Promise<{ caller: UserCaller; input: unknown }> {
    const resources = namedResources(rule, input);
    const user = await this.#access.check(caller.claims, resources, rule, options);
    const completed = completeActor(input, rule.actor ?? [], user);
    const { people: fields = [] } = rule;
    const named = peopleIn(input, fields);
    const userIds = distinct(named.map(({ userId }) => userId));
    if (userIds.length === 0) return { caller: { ...caller, user }, input: completed };
    if (userIds.length > MAX_PEOPLE) throw tooManyPeople(named[0] as NamedPerson);
    const { strangers, profiles } = await this.#access.people(caller.claims, resources, userIds, options);
    return {
      caller: { ...caller, user: { ...user, strangers } },
      input: completePeople(completed, fields, profiles),
    };
  }
}

const checker: Capability<UserAccessChecker> = /* @__PURE__ */ combine(
  { credentials: userCredentials, access: userAccess },
  ({ credentials, access }) => new TokenAccessChecker(credentials, access),
);

/** An endpoint that stores markup of users needs `cleanMarkup`. */
export function openToUsers(rule: UserRule, cleanMarkup?: CleanMarkup): OpenToUsers {
  return { ...rule, checker, cleanMarkup };
}
