import { unstyledText } from '@rollkeeper/machinery/process';

/** Columns of equal width, two spaces apart, as kubectl prints them; the last one is not padded. */
export function renderTable(rows: readonly (readonly string[])[], gap = '  '): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

function widthOf(cell: string): number {
  return unstyledText(cell).length;
}
