import type { Browser, CDPSession, Page } from 'playwright-core';
import type { ApiClient } from '../../src/client/api-client/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { launchChromium } from '../e2e/support/chromium.js';
import type { PageMemory } from '../support/page-memory.js';
import { memoryOfPage, slopeOf } from '../support/page-memory.js';
import type { Violation } from './checkers/violation.js';

/** High enough that every row of the load is rendered. */
const WINDOW = { width: 1440, height: 6000 };
/** The page asks again after 4 s at most, and a feed that is silent counts as dead after 6 s. */
const CATCHES_UP_WITHIN_MS = 15_000;
/** The page's memory of the past, such as decisions, is full after so many minutes. */
const FILLING_MINUTES = 10;
/** More than garbage and caches of the browser differ by, MiB in an hour. */
const FLAT_MIB = 3;

/** In the page: whether it is live, and the bar of each row by the row's name. */
const SHOWN = `(() => ({
  isLive: document.querySelector('.fact.live.on') !== null,
  rows: [...document.querySelectorAll('#rows .row')].map((row) => [
    row.querySelector('.name').textContent,
    row.querySelector('.mini').getAttribute('aria-label'),
  ]),
}))()`;

interface Shown {
  readonly isLive: boolean;
  readonly rows: readonly (readonly [name: string, bar: string | null])[];
}

export interface ConsoleWatchOptions {
  /** The admin URL of the replica whose console is opened; it stays the same when the replica is started again. */
  readonly adminUrl: string;
  readonly client: ApiClient;
  readonly namespace: string;
  readonly patience: number;
  readonly say: (line: string) => void;
}

/**
 * The console of one replica, open in Chromium for the whole run, never reloaded. At rest it has to be live and to show every
 * Deployment as the API has it, regardless of what happened to its replica; its memory has to be flat.
 */
export class ConsoleWatch {
  checks = 0;
  private readonly memory: (PageMemory & { readonly minute: number })[] = [];
  private readonly startedMs = performance.now();
  private lostPage: Error | undefined;
  private slowestMs = 0;

  private constructor(
    private readonly options: ConsoleWatchOptions,
    private readonly browser: Browser,
    private readonly page: Page,
    private readonly session: CDPSession,
  ) {
    page.once('crash', () => (this.lostPage = new Error('the page crashed')));
    page.on('pageerror', (error) => (this.lostPage ??= error));
  }

  static async open(options: ConsoleWatchOptions): Promise<ConsoleWatch> {
    const browser = await launchChromium();
    const page = await browser.newPage({ viewport: WINDOW });
    await page.goto(`${options.adminUrl}/console`);
    await page.waitForSelector('.fact.live.on', { timeout: 60_000 });
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    return new ConsoleWatch(options, browser, page, session);
  }

  /** Once everything is at rest. */
  async check(): Promise<Violation[]> {
    const { patience, say } = this.options;
    const startedMs = performance.now();
    let wrong: string[] = [];
    const isTrue = async (): Promise<boolean> => (wrong = await this.differences()).length === 0;
    const timeoutMs = CATCHES_UP_WITHIN_MS * patience;
    await waitFor(isTrue, { timeoutMs, intervalMs: 100, what: 'the console' }).catch(() => undefined);
    const tookMs = performance.now() - startedMs;
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    this.checks++;
    const memory = await memoryOfPage(this.session);
    const minute = (performance.now() - this.startedMs) / 60_000;
    this.memory.push({ ...memory, minute });
    say(
      `console: true after ${Math.round(tookMs)} ms; minute ${minute.toFixed(0)}: heap ${memory.heap.toFixed(1)} MiB, ` +
        `${memory.nodes} nodes, ${memory.listeners} listeners`,
    );
    const problems = this.lostPage ? [String(this.lostPage), ...wrong] : wrong;
    return problems.map((problem) => ({ check: 'console', subject: 'the page', problem }));
  }

  /** At the end of the run. @returns what was measured, in a line, and whether the memory grew */
  summary(): { readonly line: string; readonly violations: readonly Violation[] } {
    const settled = this.memory.filter(({ minute }) => minute >= FILLING_MINUTES);
    const heaps = settled.map(({ heap }) => heap);
    const [first, last] = [settled[0], settled.at(-1)];
    const minutes = (last?.minute ?? 0) - (first?.minute ?? 0);
    const slowest = `${this.checks} looks, at most ${(this.slowestMs / 1000).toFixed(1)} s behind the rest`;
    if (!first || !last || heaps.length < 3)
      return { line: `The console: ${slowest}; too short to judge its memory.`, violations: [] };
    const perHour = (slopeOf(heaps) * (heaps.length - 1) * 60) / minutes;
    const line =
      `The console: ${slowest}; heap ${Math.min(...heaps).toFixed(1)} to ${Math.max(...heaps).toFixed(1)} MiB over ` +
      `${minutes.toFixed(0)} minutes (${perHour.toFixed(2)} MiB an hour), ${first.nodes} to ${last.nodes} nodes, ` +
      `${first.listeners} to ${last.listeners} listeners.`;
    const violations =
      perHour > FLAT_MIB
        ? [
            {
              check: 'console',
              subject: 'the page',
              problem: `its heap grows by ${perHour.toFixed(1)} MiB an hour`,
            },
          ]
        : [];
    return { line, violations };
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  private async differences(): Promise<string[]> {
    const { client, namespace } = this.options;
    const { isLive, rows } = await this.page.evaluate<Shown>(SHOWN);
    if (!isLive) return ['it is not live'];
    const shown = new Map(rows.filter(([name]) => name.startsWith(`${namespace}/`)));
    const { items } = await client.list<Deployment>(Deployment, { namespace });
    const wanted = new Map(items.map((item) => [`${namespace}/${item.metadata.name}`, barOf(item)]));
    return [
      ...[...wanted]
        .filter(([name, bar]) => shown.get(name) !== bar)
        .map(([name, bar]) => `${name}: ${shown.get(name) ?? 'not there'}, where the API has ${bar}`),
      ...[...shown.keys()].filter((name) => !wanted.has(name)).map((name) => `${name} is gone, but shown`),
    ];
  }
}

/** At rest, all pods are of the newest revision. */
const barOf = ({ spec, status }: Deployment): string =>
  `${status?.availableReplicas ?? 0} of ${spec.replicas ?? 1} new and 0 of 0 old pods available`;
