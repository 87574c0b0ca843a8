import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parseJson } from '@rollkeeper/machinery/kubernetes';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { ConformanceFormat, RecordedCase, Json, JsonObject } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';

export interface ConformanceTotals {
  readonly passed: number;
  readonly failed: number;
  /** Cases that differ by a rule of ours. */
  readonly deliberate: number;
  /** For recordings in sections. */
  readonly sections: readonly SectionTotals[];
  /** In what the cases agree, for formats that count it. */
  readonly agreed?: readonly string[];
}

interface SectionTotals {
  readonly section: string;
  readonly passed: number;
  readonly cases: number;
}

/** A case that differs. */
export interface FoundDifference {
  readonly id: string;
  readonly differences: readonly string[];
  /** The rules of ours that explain it; none if it has failed. */
  readonly rules: readonly string[];
}

/**
 * Compares our controllers with every case in a file of JSON lines, gzipped or not, and passes each that differs to
 * `report`.
 * @throws StartupError naming file and line if the file is not a valid recording
 */
export async function runConformance(
  file: string,
  formats: readonly ConformanceFormat[],
  report: (found: FoundDifference) => void,
): Promise<ConformanceTotals> {
  let passed = 0;
  let failed = 0;
  let deliberate = 0;
  const { setup, cases } = await readCases(file, formats);
  const sections = new Map<string, SectionTotals>();
  const used = [...new Set(cases.map(({ format }) => format))];
  try {
    for (const format of used) await format.open?.(setup);
    for (const { recorded, format } of cases) {
      const differences = await runCase(recorded, format);
      const rules = differences.length === 0 ? [] : await rulesOf(recorded, format);
      count(sections, recorded.section, differences.length === 0);
      if (differences.length === 0) passed++;
      else if (rules.length > 0) deliberate++;
      else failed++;
      if (differences.length > 0) report({ id: recorded.id, differences, rules });
    }
  } finally {
    for (const format of used) await format.close?.();
  }
  const agreed = used.flatMap((format) => format.agreed?.() ?? []);
  const totals = { passed, failed, deliberate, sections: [...sections.values()] };
  return { ...totals, ...(agreed.length > 0 && { agreed }) };
}

function count(sections: Map<string, SectionTotals>, section: string | undefined, isSame: boolean): void {
  if (section === undefined) return;
  const { cases, passed } = sections.get(section) ?? { cases: 0, passed: 0 };
  sections.set(section, { section, passed: passed + (isSame ? 1 : 0), cases: cases + 1 });
}

/** An exception in the controller fails only that case. */
async function runCase(recorded: RecordedCase, format: ConformanceFormat): Promise<readonly string[]> {
  try {
    return await format.run(recorded);
  } catch (error) {
    return [`threw ${errorMessage(error)}`];
  }
}

/** If the controller also throws under other rules, the case has failed. */
async function rulesOf(recorded: RecordedCase, format: ConformanceFormat): Promise<readonly string[]> {
  try {
    return (await format.deliberate?.(recorded)) ?? [];
  } catch {
    return [];
  }
}

interface CaseOfFormat {
  readonly recorded: RecordedCase;
  readonly format: ConformanceFormat;
}

interface CasesOfFile {
  /** The set-up in the first line, which has to exist before the cases. */
  readonly setup?: Json;
  readonly cases: readonly CaseOfFormat[];
}

/** Reads the whole file before anything runs, so that a malformed file is reported at once. */
async function readCases(file: string, formats: readonly ConformanceFormat[]): Promise<CasesOfFile> {
  const lines = (await readText(file))
    .split('\n')
    .map((line, index) => ({ line, place: `${file}:${index + 1}` }));
  const values = lines.filter(({ line }) => line.trim() !== '').map(({ line, place }) => parse(line, place));
  const objects = values.map(({ value }) => value);
  for (const format of formats) {
    const own = format.casesOf?.(objects);
    if (own) return { cases: own.map((recorded) => ({ recorded, format })) };
  }
  const setup = values[0]?.value.id === undefined ? values[0]?.value.setup : undefined;
  const recorded = (setup === undefined ? values : values.slice(1)).map(asCase);
  if (recorded.length === 0) throw new StartupError(`${file}: holds no case`);
  const cases = recorded.map(({ recorded, place }) => {
    const format = formats.find((candidate) => candidate.matches(recorded));
    if (!format) {
      const known = formats.map(({ name }) => name).join(', ');
      throw new StartupError(`${place}: a case of no known format (known: ${known})`);
    }
    return { recorded, format };
  });
  return { setup, cases };
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new StartupError(`${file}: cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

interface Line {
  readonly value: JsonObject;
  readonly place: string;
}

function parse(line: string, place: string): Line {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    throw new StartupError(`${place}: not JSON: ${errorMessage(error)}`, { cause: error });
  }
  return { value: isJsonObject(value) ? value : {}, place };
}

function asCase({ value, place }: Line): { recorded: RecordedCase; place: string } {
  if (typeof value.id !== 'string') {
    throw new StartupError(`${place}: not a recorded case: it has no "id"`);
  }
  return { recorded: value as RecordedCase, place };
}
