import { counted } from '@rollkeeper/machinery/text';
import type { Style } from '../../terminal/index.js';
import type { Diagnosis, Finding, Level } from './finding.js';
import { CHECKS } from './finding.js';

const WORDS: Readonly<Record<Level, string>> = {
  ok: 'ok',
  skipped: 'skipped',
  warning: 'WARNING',
  failure: 'FAILURE',
};
const WIDTH = Math.max(...Object.values(WORDS).map((word) => word.length));
const CHECK_WIDTH = Math.max(...CHECKS.map((check) => check.length));

/** A line for each finding, what to do below it, and the sum at the end. */
export function renderDiagnosis({ findings, result }: Diagnosis, style: Style): string {
  const colours: Readonly<Record<Level, (text: string) => string>> = {
    ok: style.good,
    skipped: style.faint,
    warning: style.warning,
    failure: style.bad,
  };
  const lines = findings.flatMap(({ check, level, remedy, summary }) => [
    `${colours[level](WORDS[level].padEnd(WIDTH))}  ${check.padEnd(CHECK_WIDTH)}  ${summary}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(WIDTH + CHECK_WIDTH + 4)}→ ${remedy}`]),
  ]);
  return [...lines, '', colours[result](sumOf(findings))].join('\n');
}

function sumOf(findings: readonly Finding[]): string {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const [failures, warnings, left] = [count('failure'), count('warning'), count('skipped')];
  const said = [
    ...(failures > 0 ? [counted(failures, 'failure')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  const unseen = left === 0 ? '' : `; ${counted(left, 'check')} skipped`;
  return `${said.length === 0 ? 'Nothing is wrong' : said.join(', ')}${unseen}.`;
}
