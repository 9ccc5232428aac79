// Which rows of failed probes count against the operator.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FailedRow, isOwnFault, type MeterReading } from '../../fuzz/tenant/failed-probes.ts';

const row: FailedRow = { from: 10_000, to: 14_000, failed: 3, isSilent: true };
const readings = (cpuMs: number): readonly MeterReading[] => [
  { at: 8_000, cpuMs: 500 },
  { at: 9_900, cpuMs: 1_000 },
  { at: 14_100, cpuMs: 1_000 + cpuMs },
  { at: 15_000, cpuMs: 9_000 },
];

test('three silent probes count when the main thread was at work, and not when it waited for a processor', () => {
  assert.equal(isOwnFault(row, readings(2_100)), true);
  assert.equal(isOwnFault(row, readings(2_000)), false);
});

test('fewer than three failed probes never count', () => {
  assert.equal(isOwnFault({ ...row, failed: 2, isSilent: false }, []), false);
});

test('three refused probes, a silence of more than ten seconds and a missing reading always count', () => {
  assert.equal(isOwnFault({ ...row, isSilent: false }, readings(0)), true);
  assert.equal(isOwnFault({ ...row, to: 20_001 }, [...readings(0), { at: 20_100, cpuMs: 9_000 }]), true);
  assert.equal(isOwnFault(row, readings(0).slice(0, 2)), true);
  assert.equal(isOwnFault(row, readings(0).slice(2)), true);
});
