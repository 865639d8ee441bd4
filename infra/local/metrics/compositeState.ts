import type { AlarmModel } from '../assembly/monitoring/alarmModel.ts';
import type { CompositeModel, Rule, Suppressor } from '../assembly/monitoring/compositeModel.ts';
import { type AlarmState, alarmState } from './alarmState.ts';
import type { MetricStore } from './metricStore.ts';
import { BUCKET_MILLISECONDS, bucketAt } from './series.ts';

/** The alarm that suppresses notices. `period` is set while the suppressing alarm is not active. */
export type Suppression = { readonly alarm: string; readonly period?: 'wait' | 'extension' };

/** `at` is epoch ms. States of the past come from the stored measurements. */
export class AlarmStates {
  readonly #alarms: ReadonlyMap<string, AlarmModel>;
  readonly #composites: ReadonlyMap<string, CompositeModel>;
  readonly #store: MetricStore;
  readonly #known = new Map<string, AlarmState>();

  constructor(
    { alarms, composites }: { readonly alarms: readonly AlarmModel[]; readonly composites: readonly CompositeModel[] },
    store: MetricStore,
  ) {
    this.#alarms = new Map(alarms.map((each) => [each.name, each]));
    this.#composites = new Map(composites.map((each) => [each.name, each]));
    this.#store = store;
  }

  stateAt(alarm: AlarmModel, at: number): AlarmState {
    const key = `${alarm.name} ${bucketAt(at)}`;
    const state = this.#known.get(key) ?? alarmState(alarm, this.#store, at);
    this.#known.set(key, state);
    return state;
  }

  isActive(name: string, at: number): boolean {
    const alarm = this.#alarms.get(name);
    if (alarm) return this.stateAt(alarm, at).contributors.length > 0;
    const composite = this.#composites.get(name);
    return composite !== undefined && this.#holds(composite.rule, at);
  }

  nameWithGroups(name: string, at: number): string {
    const alarm = this.#alarms.get(name);
    const groups = alarm ? this.stateAt(alarm, at).contributors.filter((group) => group !== '') : [];
    return groups.length > 0 ? `${name} (${groups.join(', ')})` : name;
  }

  impactsOf(name: string, at: number): string[] {
    const alarm = this.#alarms.get(name);
    if (!alarm) return [];
    return this.stateAt(alarm, at).contributors.flatMap((group) => {
      const impact = alarm.impacts && Object.hasOwn(alarm.impacts, group) ? alarm.impacts[group] : undefined;
      return impact === undefined ? [] : [`${group}: ${impact}`];
    });
  }

  /**
   * Returns what suppresses the notices of an active alarm: its active suppressor, the extension period after that, or
   * the wait period after the alarm became active.
   */
  suppressionOf({ name, suppressor }: CompositeModel, now: number): Suppression | undefined {
    if (!suppressor) return undefined;
    const { alarm } = suppressor;
    if (this.isActive(alarm, now)) return { alarm };
    if (this.#wasIn(now, suppressor.extensionSeconds, (at) => this.isActive(alarm, at)))
      return { alarm, period: 'extension' };
    return this.#wasIn(now, suppressor.waitSeconds, (at) => !this.isActive(name, at))
      ? { alarm, period: 'wait' }
      : undefined;
  }

  #wasIn(now: number, seconds: Suppressor['waitSeconds'], holds: (at: number) => boolean): boolean {
    const count = Math.ceil((seconds * 1000) / BUCKET_MILLISECONDS);
    return Array.from({ length: count }, (_each, index) => now - (index + 1) * BUCKET_MILLISECONDS).some(holds);
  }

  #holds(rule: Rule, at: number): boolean {
    switch (rule.kind) {
      case 'state':
        return this.isActive(rule.alarm, at) === rule.isActive;
      case 'constant':
        return rule.value;
      case 'not':
        return !this.#holds(rule.of, at);
      case 'all':
        return rule.of.every((each) => this.#holds(each, at));
      case 'any':
        return rule.of.some((each) => this.#holds(each, at));
    }
  }
}
