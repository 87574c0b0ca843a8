import { describe, expect, it } from 'vitest';
import type { CelOutcome, CelType } from './index.js';
import { CostBudget, compileExpression, listOf, mapOf, objectOf, optionalOf } from './index.js';

const CONTAINER = objectOf('container', { name: 'string', port: 'int' });
const SELF = objectOf('object', {
  replicas: 'int',
  ratio: 'double',
  names: listOf('string'),
  labels: mapOf('string'),
  containers: listOf(CONTAINER),
  first: CONTAINER,
  any: 'dyn',
  start: 'timestamp',
  wait: 'duration',
  raw: 'bytes',
  tags: { kind: 'list', items: 'string', isSet: true },
});
const VALUE = {
  replicas: 2,
  ratio: 2,
  names: ['a', 'b'],
  labels: { app: 'web', 'a/b': 'c' },
  containers: [
    { name: 'x', port: 80 },
    { name: 'y', port: 443 },
  ],
  first: { name: 'x', port: 80 },
  any: { deep: [1, 1.5, 'z'] },
  start: '2026-01-02T03:04:05Z',
  wait: '1h30m',
  raw: 'aGk=',
  tags: ['q', 'p'],
};

function outcomeOf(
  expression: string,
  variables: Record<string, CelType> = { self: SELF },
  values: Record<string, unknown> = { self: VALUE },
): CelOutcome {
  const { program, problem } = compileExpression(expression, { variables });
  if (!program) throw new Error(problem);
  return program.evaluate(values, new CostBudget(10_000_000));
}

describe('expressions', () => {
  it.each([
    'self.replicas + 1 == 3',
    'self.ratio == 2.0 && self.ratio > 1.5',
    'self.names.all(name, name.size() == 1) && self.names.exists(name, name == "b")',
    'self.names.exists_one(name, name == "a") && self.names.filter(n, n > "a").size() == 1',
    'self.names.map(name, name + "!") == ["a!", "b!"]',
    'self.labels["a/b"] == "c" && "app" in self.labels && self.labels.app == "web"',
    'self.labels.all(key, self.labels[key].size() > 0)',
    'self.containers.exists(c, c.port == 443) && self.containers[1].name == "y"',
    'self.containers.map(c, c.port).sum() == 523',
    'self.containers[0] == self.first && self.first in self.containers',
    'has(self.containers[0].port) && has(self.containers.filter(c, c.port == 80)[0].name)',
    'has(self.labels.app) && !has(self.labels.nope) && "has(x)" != \'has("\' && has( self.any.deep )',
    '!has(self.first.port) || self.first.port == 80',
    'self.any.deep[0] == 1 && self.any.deep[1] > 1.2 && self.any.deep[2] == "z"',
    'self.start < timestamp("2027-01-01T00:00:00Z") && self.start.getFullYear() == 2026',
    'self.wait == duration("90m") && self.wait > duration("1h")',
    'timestamp(self.start) == self.start && duration(self.wait) == self.wait',
    'self.first != null && null != self.containers[0] && self.start != null && !(self.first == null)',
    'self.raw == b"hi"',
    'self.tags == self.tags && self.tags.size() == 2',
    'self.?first.?name.orValue("") == "x"',
    'self.?first.optMap(f, f.port).orValue(0) == 80',
    'optional.none().hasValue() == false && optional.ofNonZeroValue("").hasValue() == false',
    'cel.bind(n, self.replicas * 2, n == 4)',
    '"a-1".matches("^[a-z]-[0-9]$") && !"a1".matches("^[a-z]-[0-9]$")',
    '"a,b".split(",").join("-") == "a-b" && "aXbX".replace("X", "") == "ab" && "abc".charAt(1) == "b"',
    '"%s has %d of %.2f".format(["x", 3, 1.5]) == "x has 3 of 1.50"',
    '"v1.2 v3.4".findAll("[0-9]+") == ["1", "2", "3", "4"] && "ab12".find("[0-9]+") == "12"',
    '[1, 2, 2].isSorted() && [3, 1].max() == 3 && [3, 1].min() == 1 && [1, 2, 1].lastIndexOf(1) == 2',
    'sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1]) && !sets.intersects([1], [2])',
    'quantity("1Gi").isGreaterThan(quantity("1G")) && quantity("500m").add(quantity("500m")) == quantity("1")',
    'isQuantity("1Ki") && !isQuantity("1 Ki") && quantity("2").asInteger() == 2',
    'url("https://a.example:8443/x?q=1").getHost() == "a.example:8443" && isURL("/x") && !isURL("x")',
    'url("https://a.example:443/x").getPort() == "443" && url("https://h/p%20q").getEscapedPath() == "/p%20q"',
    'ip("::1").isLoopback() && ip("10.0.0.1").family() == 4 && ip.isCanonical("::1") && !isIP("10.0.0.256")',
    'cidr("10.0.0.0/8").containsIP("10.1.2.3") && cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")',
    '!format.dns1123Label().validate("web-1").hasValue() && format.dns1123Label().validate("Web").hasValue()',
    'format.named("uuid").value() == format.uuid() && !format.named("colour").hasValue()',
    '!format.dns1123LabelPrefix().validate("web-").hasValue() && format.dns1123Label().validate("web-").hasValue()',
    '["1/2/3", "a b"].all(t, format.qualifiedName().validate(t).value().size() > 0)',
    '["2024-02-30", "24-01-01"].all(t, format.date().validate(t).hasValue()) && !format.date().validate("2024-02-29").hasValue()',
    '!format.datetime().validate("2024-02-29T10:00:00+01:00").hasValue() && format.datetime().validate("2024-02-29").hasValue()',
    '!format.byte().validate("aGk=").hasValue() && format.byte().validate("aGk").hasValue()',
    '!format.uri().validate("https://a.example/x").hasValue() && format.uri().validate("a.example").value() == ["invalid URI"]',
    '!format.labelValue().validate("").hasValue() && format.dns1035Label().validate("1a").hasValue()',
    'string(cidr("10.1.2.3/8").masked()) == "10.0.0.0/8" && string(ip("2001:db8::1")) == "2001:db8::1"',
  ])('hold: %s', (expression) => {
    expect(outcomeOf(expression)).toEqual({ type: 'value', value: true });
  });

  it.each([
    ['self.nope == 1', "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^"],
    ['self.replicas == "a"', "found no matching overload for '_==_' applied to '(int, string)'"],
    ['nobody == 1', "undeclared reference to 'nobody' (in container '')"],
    ['self.names.all(n, n > 1)', "found no matching overload for '_>_' applied to '(string, int)'"],
    ['self.first == 1', "applied to '(container, int)'"],
    ['"a".matches("(")', 'invalid matches argument'],
    ['has(self)', 'invalid argument to has() macro'],
    ['has(self.first.nope)', "undefined field 'nope'"],
    ['self.replicas >', 'ERROR: <input>:1:'],
  ])('are refused before they run if they cannot be meant: %s', (expression, words) => {
    expect(compileExpression(expression, { variables: { self: SELF } }).problem).toContain(words);
  });

  it.each([
    ['self.first.port == 80', { self: { first: {} } }, 'no such key: port'],
    ['self.names[3] == "a"', { self: VALUE }, 'index out of bounds: 3'],
    ['1 / (self.replicas - 2) == 0', { self: VALUE }, 'division by zero'],
    ['self.any + 1 == 2', { self: { any: 'x' } }, 'no such overload'],
  ])('say why they failed: %s', (expression, values, message) => {
    expect(outcomeOf(expression, { self: SELF }, values)).toEqual({ type: 'error', message });
  });

  it('know whether a variable that may be missing is there', () => {
    const variables = { oldSelf: optionalOf(SELF) };
    const expression = 'oldSelf.hasValue() ? oldSelf.value().replicas == 2 : false';
    expect(outcomeOf(expression, variables, { oldSelf: VALUE })).toMatchObject({ value: true });
    expect(outcomeOf(expression, variables, {})).toMatchObject({ value: false });
  });

  it('name the variables that they use', () => {
    const { program } = compileExpression('a == 1 || [2].all(b, b == a)', {
      variables: { a: 'int', b: 'int', c: 'int' },
    });
    expect(program?.uses('a')).toBe(true);
    expect(program?.uses('c')).toBe(false);
    expect(program?.resultType).toBe('bool');
  });
});

describe('expressions that cost too much', () => {
  const items = Array.from({ length: 300 }, (_, index) => `name-${index}`);
  const variables = { items: listOf('string'), text: 'string' } as const;
  const doubling = (sum: string): string =>
    Array.from(
      { length: 60 },
      (_, index) => `cel.bind(v${index + 1}, ${sum.replaceAll('v', `v${index}`)}, `,
    ).join('');

  it.each([
    ['loops within loops', 'items.all(a, items.all(b, items.all(c, a + b + c != "")))'],
    ['loops that hide the error', 'items.all(a, items.all(b, items.all(c, c != ""))) || true'],
    ['texts that double', `cel.bind(v0, text, ${doubling('v + v')}v60 == ""${')'.repeat(61)}`],
    ['lists that double', `cel.bind(v0, items, ${doubling('v + v')}v60 == items${')'.repeat(61)}`],
    ['texts joined again and again', 'items.map(a, items.map(b, text).join("")).join("").size() > 0'],
    ['errors within loops', 'items.all(a, items.all(b, int(a) == 1))'],
    ['long patterns on long texts', `items.all(a, text.matches("(${'x?'.repeat(50)})+$"))`],
  ])('end by themselves: %s', (_name, expression) => {
    const { program, problem } = compileExpression(expression, { variables });
    expect(problem).toBeUndefined();
    const budget = new CostBudget(10_000_000);
    expect(program!.evaluate({ items, text: 'x'.repeat(10_000) }, budget)).toMatchObject({
      type: 'exceeded',
    });
    expect(budget.remaining).toBeLessThan(9_100_000);
  });

  it('leave the next one its own limit', () => {
    expect(outcomeOf('self.replicas == 2')).toMatchObject({ value: true });
  });

  it('are not begun once the budget is used up', () => {
    const { program } = compileExpression('1 == 1', { variables: {} });
    expect(program?.evaluate({}, new CostBudget(0))).toMatchObject({ type: 'exceeded' });
  });
});

describe('expressions of thousands of parts', () => {
  const linked = (text: string, by: string): string => Array(4542).fill(text).join(by);
  it.each([
    [linked('true', ' && '), true],
    [linked('false', ' || '), false],
    [`${'!'.repeat(4541)}true`, false],
    [`${'- '.repeat(4541)}1 == -1`, true],
    [`size([${linked('1', ', ')}]) == 4542`, true],
  ])('are evaluated if their syntax is taken: %.20s', (expression, value) => {
    expect(outcomeOf(expression)).toEqual({ type: 'value', value });
  });

  it('are refused if they are too deep', () => {
    const { problem } = compileExpression(`${linked('1', ' + ')} == 1`, { variables: {} });
    expect(problem).toBe('ERROR: <input>:-1:0: max recursion depth exceeded');
  });
});

describe('the words and the place of what is wrong with the types', () => {
  const self = objectOf('object', {
    n: 'int',
    s: 'string',
    l: listOf('int'),
    m: mapOf('string'),
  });
  // These are the answers of a genuine server.
  it.each([
    ['1u == 1', '1:4', "found no matching overload for '_==_' applied to '(uint, int)'"],
    ['self.n + "a" == 1', '1:8', "found no matching overload for '_+_' applied to '(int, string)'"],
    ['"a" in self.l', '1:5', "found no matching overload for '@in' applied to '(string, list(int))'"],
    ['!self.n', '1:1', "found no matching overload for '!_' applied to '(int)'"],
    ['self.n && true', '1:5', "expected type 'bool' but found 'int'"],
    ['true && self.n', '1:13', "expected type 'bool' but found 'int'"],
    ['self.nope == 1', '1:5', "undefined field 'nope'"],
    ['self.n.nope', '1:7', "type 'int' does not support field selection"],
    ['self.l.nope', '1:7', "type 'list(int)' does not support field selection"],
    ['self.l["a"]', '1:7', "found no matching overload for '_[_]' applied to '(list(int), string)'"],
    ['size()', '1:5', "found no matching overload for 'size' applied to '()'"],
    ['self.s.size(1)', '1:12', "found no matching overload for 'size' applied to 'string.(int)'"],
    ['self.s.nope()', '1:12', "undeclared reference to 'nope' (in container '')"],
    ['nope(self)', '1:5', "undeclared reference to 'nope' (in container '')"],
    ['self.s.matches(1)', '1:15', "found no matching overload for 'matches' applied to 'string.(int)'"],
    ['self.s.matches("[")', '1:16', 'invalid matches argument'],
    ['self.l.all(x, x)', '1:15', "expected type 'bool' but found 'int'"],
    ['self.l.all(1, true)', '1:12', 'argument must be a simple name'],
    [
      'self.n.all(x, true)',
      '1:5',
      "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
    ['has(self.nope)', '1:4', "undefined field 'nope'"],
    ['has(self.l[0])', '1:11', 'invalid argument to has() macro'],
    ['has()', '1:4', "undeclared reference to 'has' (in container '')"],
    [
      'self.l == self.m',
      '1:8',
      "found no matching overload for '_==_' applied to '(list(int), map(string, string))'",
    ],
    [
      'optional.of(1) == 1',
      '1:16',
      "found no matching overload for '_==_' applied to '(optional_type(int), int)'",
    ],
  ])('are those of cel-go: %s', (expression, place, words) => {
    const { problem } = compileExpression(expression, { variables: { self } });
    expect(problem?.split('\n')[0]).toBe(`ERROR: <input>:${place}: ${words}`);
  });

  it('names every mistake of an expression, in the order of the text', () => {
    const { problem = '' } = compileExpression('self.aa >= self.bb || nope == self.cc', {
      variables: { self },
    });
    expect(problem.match(/ERROR: <input>:1:\d+: [^\n]*/g)).toEqual([
      "ERROR: <input>:1:5: undefined field 'aa'",
      "ERROR: <input>:1:16: undefined field 'bb'",
      "ERROR: <input>:1:23: undeclared reference to 'nope' (in container '')",
      "ERROR: <input>:1:35: undefined field 'cc'",
    ]);
  });
});
