// What the harness brings into each page that it measures, before any script of the page's own.
window.benchLargest = selector => {
    const area = element => (box => box.width * box.height)(element.getBoundingClientRect());
    return [...document.querySelectorAll(selector)].sort((a, b) => area(b) - area(a))[0];
};
// A canvas of WebGL is empty again after each frame, unless it is told to keep what it shows.
const benchContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
    const isKept = window.benchKeeps && /webgl/.test(kind);
    return benchContext.call(this, kind, isKept ? { ...options, preserveDrawingBuffer: true } : options);
};
window.benchHasColours = canvas => {
    if (canvas.width < 100 || canvas.height < 50) return false;
    const small = document.createElement('canvas');
    [small.width, small.height] = [64, 64];
    const context = benchContext.call(small, '2d');
    context.drawImage(canvas, 0, 0, 64, 64);
    const pixels = new Uint32Array(context.getImageData(0, 0, 64, 64).data.buffer);
    return new Set(pixels).size > 2;
};
// Sets `name` in the frame that sees `isTrue`, and `${name}-settled` once two more frames were made.
window.benchWhen = (isTrue, name) => {
    const look = () => {
        if (!isTrue()) return requestAnimationFrame(look);
        performance.mark(name);
        requestAnimationFrame(() => requestAnimationFrame(() => performance.mark(name + '-settled')));
    };
    requestAnimationFrame(look);
};
window.benchErrors = [];
addEventListener('error', event => benchErrors.push(String(event.message)));
addEventListener('unhandledrejection', event => benchErrors.push(String(event.reason)));
// Takes a file by the page's own input; where it has none, as if the file were dropped onto the page.
window.benchInput = () => {
    let input = document.querySelector('input[type=file]');
    const isOwn = input !== null;
    if (!isOwn) {
        input = document.body.appendChild(document.createElement('input'));
        input.type = 'file';
    }
    input.addEventListener('change', () => {
        performance.mark('bench-chosen');
        if (isOwn) return;
        const dataTransfer = new DataTransfer();
        for (const file of input.files) dataTransfer.items.add(file);
        for (const type of ['dragenter', 'dragover', 'drop']) {
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        }
    }, { capture: true });
};
// One step of a gesture a frame, for so many steps or, on a page that is slow, so long.
window.benchGesture = (plot, name) => {
    const STEPS = 120;
    const LIMIT_MS = 4000;
    const box = plot.getBoundingClientRect();
    const middle = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
    const options = { bubbles: true, cancelable: true, view: window, ...middle };
    const wheel = deltaY => plot.dispatchEvent(new WheelEvent('wheel', { ...options, deltaY }));
    const point = (type, clientX, buttons) => {
        const pointer = { ...options, clientX, button: 0, buttons, pointerId: 1, pointerType: 'mouse', isPrimary: true };
        plot.dispatchEvent(new PointerEvent('pointer' + type, pointer));
        plot.dispatchEvent(new MouseEvent('mouse' + type, pointer));
    };
    const gestures = {
        zoom: step => wheel(step < STEPS / 2 ? -40 : 40),
        pan: step => {
            if (step === 1) point('down', middle.clientX, 1);
            point('move', middle.clientX + 200 * Math.sin(step / 10), 1);
        },
    };
    if (name === 'pan') for (let n = 0; n < 12; n++) wheel(-100);
    return new Promise(resolve => setTimeout(() => {
        const begin = performance.now();
        performance.mark('bench-gesture');
        let step = 0;
        const next = () => {
            step += 1;
            if (step > STEPS || performance.now() - begin > LIMIT_MS) {
                performance.mark('bench-gesture-end');
                if (name === 'pan') point('up', middle.clientX, 0);
                return resolve(step);
            }
            gestures[name](step);
            requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
    }, 300));
};
