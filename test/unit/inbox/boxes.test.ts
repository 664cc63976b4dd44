import { expect, test } from '@jest/globals';
import { createBoxes, type Item } from '../../../src/inbox/boxes.js';

const item = (itemId: string): Item => ({
  itemId,
  receivedAt: new Date(0),
  headers: {},
  body: '',
  problem: null,
  answered: '200',
});

test('a shipper has the newest hundred items, and at most fifty shippers have any', () => {
  const boxes = createBoxes();
  for (let n = 1; n <= 101; n += 1) boxes.add('first', item(`${n}`));
  const ids = boxes.of('first').items.map(({ itemId }) => itemId);
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, '101', '2']);
  for (let n = 1; n <= 49; n += 1) boxes.add(`shipper ${n}`, item('one'));
  expect(boxes.of('first').items).toHaveLength(100); // and so used last
  boxes.add('the fifty-first', item('one'));
  expect(boxes.of('shipper 1').items).toEqual([]);
  expect(boxes.of('first').items).toHaveLength(100);
});

test('a failure lasts as often as was said, another one replaces it, and emptying leaves it', () => {
  const boxes = createBoxes();
  const answers = (count: number) => Array.from({ length: count }, () => boxes.nextAnswer('one'));
  expect(answers(1)).toEqual(['200']);
  boxes.fail('one', 'TIMEOUT', 2);
  expect(boxes.empty('one')).toBe(0);
  expect(answers(1)).toEqual(['TIMEOUT']);
  boxes.fail('one', 'RESET', 1);
  expect(answers(2)).toEqual(['RESET', '200']);
  boxes.fail('one', '410', null);
  expect(answers(3)).toEqual(['410', '410', '410']);
  expect(boxes.nextAnswer('another')).toBe('200');
});
