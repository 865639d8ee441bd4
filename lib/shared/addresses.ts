import { isObject } from './collections.ts';

/** Removes the e-mail addresses of all users except `ownId`. */
export function withoutAddresses<V>(value: V, ownId?: string): V {
  return withoutAddressesOf(value, undefined, ownId) as V;
}

function withoutAddressesOf(value: unknown, outerId: string | undefined, ownId: string | undefined): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const changed = items.map((item) => withoutAddressesOf(item, undefined, ownId));
    return changed.every((item, index) => item === items[index]) ? items : changed;
  }
  if (!isObject(value)) return value;
  const userId = typeof value.userId === 'string' ? value.userId : outerId;
  const isHidden = 'email' in value && userId !== undefined && userId !== ownId;
  let copy: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(value)) {
    const changed = withoutAddressesOf(field, name === 'contact' ? userId : undefined, ownId);
    if (changed === field) continue;
    // A spread also copies a field named `__proto__`.
    copy ??= { ...value };
    copy[name] = changed;
  }
  if (!isHidden) return copy ?? value;
  const { email: _email, ...others } = copy ?? value;
  return others;
}
