import { COMMON_EXIT_CODES, EXIT_CODES, exitCodesOf } from '../../src/rollkeeper/terminal/exit-codes.js';
import { createProgram } from '../../src/rollkeeper/cli/program.js';
import type { CommandModel, OptionModel } from '../../src/rollkeeper/cli/completion/index.js';
import { modelOf } from '../../src/rollkeeper/cli/completion/index.js';
import { VERSION } from '../../src/machinery/version.js';
import { TABLES } from './option-documents.js';

/** This file makes the reference in docs/CLI.md and the man page from the command line itself. */

/** The program whose commands the reference has, in the order of `--help`. */
export const PROGRAM: CommandModel = modelOf(createProgram('main.js'));
const COMMANDS = PROGRAM.commands.filter(({ name }) => name !== 'help');

/** The Markdown below the introduction of docs/CLI.md. */
export function cliReference(): string {
  return [commandTable(), exitCodeTable(), ...COMMANDS.map(commandSection)].join('\n\n');
}

function commandTable(): string {
  const rows = COMMANDS.map(({ description, name }) => [`[\`${name}\`](#rollkeeper-${name})`, description]);
  return `## Commands\n\n${table([['command', 'what it does'], ...rows])}`;
}

function exitCodeTable(): string {
  const rows = [
    ...COMMON_EXIT_CODES.map(({ code, means }) => ['every command', code, means]),
    ...Object.entries(EXIT_CODES).flatMap(([command, codes]) =>
      codes.map(({ code, means }) => [`\`${command}\``, code, means]),
    ),
  ];
  return `## Exit codes\n\n${table([['command', 'code', 'means'], ...rows])}`;
}

function commandSection(command: CommandModel): string {
  const { arguments: given, description, name, options } = command;
  const own = options.filter((option) => option.name !== '--help');
  const isTabled = name in TABLES;
  const parts = [
    `## \`rollkeeper ${name}\``,
    `\`\`\`text\nrollkeeper ${name} ${command.usage}\n\`\`\``,
    sentence(description),
    ...(given.length === 0
      ? []
      : [table([['argument', 'what it is'], ...given.map((each) => [each.name, describe(each)])])]),
    ...(isTabled
      ? [`Options: [OPTIONS.md](OPTIONS.md#rollkeeper-${name}).`]
      : own.length === 0
        ? []
        : [
            table([
              ['option', 'what it does'],
              ...own.map((option) => [`\`${option.flags}\``, describe(option)]),
            ]),
          ]),
    ...(name in EXIT_CODES
      ? [
          `Exit codes: ${exitCodesOf(name)
            .map(({ code, means }) => `${code} ${means}`)
            .join('; ')}.`,
        ]
      : []),
  ];
  return parts.join('\n\n');
}

type Described = Pick<OptionModel, 'description' | 'choices'> & Pick<Partial<OptionModel>, 'default'>;

function describe(of: Described): string {
  const choices = of.choices.filter((choice) => !of.description.includes(choice));
  return [
    of.description,
    ...(choices.length > 0 ? [`(one of ${of.choices.join(', ')})`] : []),
    ...(of.default !== undefined && !of.description.includes('(default') ? [`(default: ${of.default})`] : []),
  ].join(' ');
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '-')), ...rows.map(line)].join('\n');
}

/** Text as Markdown shows it in a cell. */
function cell(text: string): string {
  return text
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/(?<!`)<([a-z/.-]+)>(?!`)/g, '`<$1>`')
    .replaceAll(/ \* /g, ' `*` ');
}

/** `man rollkeeper`, for groff. */
export function manPage(): string {
  return [
    `.TH ROLLKEEPER 1 "" "Rollkeeper ${VERSION}" "User Commands"`,
    '.SH NAME',
    `rollkeeper \\- ${roff(PROGRAM.description)}`,
    '.SH SYNOPSIS',
    '.B rollkeeper',
    '.I COMMAND',
    '[options]',
    '.br',
    '.B kubectl rollkeeper',
    '.I COMMAND',
    '[options]',
    '.SH DESCRIPTION',
    roff(
      'The command line of Rollkeeper. Commands that ask a replica find those that `rollkeeper up` runs from the data folder; others are named with --admin-url. Commands that ask the Kubernetes API follow the rules of kubectl for the kubeconfig.',
    ),
    '.SH COMMANDS',
    ...COMMANDS.flatMap(manCommand),
    '.SH EXIT STATUS',
    ...COMMON_EXIT_CODES.flatMap(({ code, means }) => manItem(code, means)),
    ...Object.entries(EXIT_CODES).flatMap(([command, codes]) =>
      codes.flatMap(({ code, means }) => manItem(`${code} (${command})`, means)),
    ),
    '.SH ENVIRONMENT',
    ...manItem('KUBECONFIG', 'files that describe clusters, as for kubectl'),
    ...manItem('REDIS_URL, REDIS_CA_FILE', 'in place of --redis-url and --redis-ca-file'),
    ...manItem('NO_COLOR', 'set to anything: no colours, also on a terminal'),
    '.SH SEE ALSO',
    roff('kubectl(1)'),
  ].join('\n');
}

function manCommand({
  arguments: given,
  description,
  name,
  options,
  usage,
}: CommandModel): readonly string[] {
  return [
    `.SS rollkeeper ${roff(name)} ${roff(usage)}`,
    roff(sentence(description)),
    ...given.flatMap((argument) => manItem(argument.name, describe(argument))),
    ...options.flatMap((option) => manItem(option.flags, describe(option))),
  ];
}

function manItem(tag: string, text: string): readonly string[] {
  return ['.TP', `.B ${roff(tag)}`, roff(text)];
}

/** Text that groff prints as it is: no requests, no escapes, hyphens that can be copied. */
export function roff(text: string): string {
  return text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll('’', String.raw`\(cq`)
    .replaceAll('…', '...')
    .replace(/^([.'])/, String.raw`\&$1`);
}
