/** Colours of Grafana's dark theme by their names; `dark-`, `semi-dark-`, `light-` and `super-light-` are shades. */
const hues: Record<
  string,
  [superLight: string, light: string, plain: string, semiDark: string, dark: string]
> = {
  red: ['#FFA6B0', '#FF7383', '#F2495C', '#E02F44', '#C4162A'],
  orange: ['#FFCB7D', '#FFB357', '#FF9830', '#FF780A', '#FA6400'],
  yellow: ['#FFF899', '#FFEE52', '#FADE2A', '#F2CC0C', '#E0B400'],
  green: ['#C8F2C2', '#96D98D', '#73BF69', '#56A64B', '#37872D'],
  blue: ['#C0D8FF', '#8AB8FF', '#5794F2', '#3274D9', '#1F60C4'],
  purple: ['#DEB6F2', '#CA95E5', '#B877D9', '#A352CC', '#8F3BB8'],
};
const shades = ['super-light-', 'light-', '', 'semi-dark-', 'dark-'];
const named: Record<string, string> = { text: '#CCCCDC', transparent: 'transparent', gray: '#8E8E99' };

export function css(name: string): string {
  const [, shade = '', hue = ''] = /^(super-light-|light-|semi-dark-|dark-)?(\w+)$/.exec(name) ?? [];
  return hues[hue]?.[shades.indexOf(shade)] ?? named[name] ?? name;
}

/** Lines without a colour of their own, in turn. */
const palette = [
  '#73BF69',
  '#F2CC0C',
  '#8AB8FF',
  '#FF780A',
  '#F2495C',
  '#5794F2',
  '#B877D9',
  '#705DA0',
  '#37872D',
  '#FADE2A',
  '#447EBC',
  '#C15C17',
  '#FFA6B0',
  '#CA95E5',
];

export const nth = (n: number): string => palette[n % palette.length]!;
