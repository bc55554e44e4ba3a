// The pairs of text and background colours on the page that are too close to each
// other by WCAG 2: below 4.5 to 1, and 3 to 1 for large text.
(() => {
  const numbers = colour => colour.match(/[\d.]+/g).map(Number);
  const luminance = rgb => {
    const [r, g, b] = rgb.map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const [r, g, b, a = 1] = numbers(getComputedStyle(e).backgroundColor);
      if (a === 1) return [r, g, b];
      if (a !== 0) throw new Error('half transparent: ' + e.className);
    }
    return [255, 255, 255];
  };
  const pairs = new Map();
  for (const e of document.querySelectorAll('body *')) {
    const text = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim() !== '');
    if (!text || !e.checkVisibility() || e.closest('.aside')) continue;
    const style = getComputedStyle(e), [r, g, b] = numbers(style.color), under = ground(e);
    const [x, y] = [luminance([r, g, b]), luminance(under)];
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && parseInt(style.fontWeight) >= 700;
    pairs.set(`${style.color} on ${under} (${large})`, {ratio, large, e});
  }
  const low = [...pairs].filter(([, p]) => p.ratio < (p.large ? 3 : 4.5)).map(([name, p]) => `${name}: ${p.ratio.toFixed(2)} to 1, as in ${p.e.outerHTML.slice(0, 150)}`);
  return {pairs: pairs.size, low};
})()
