// Where a window is to be, as the options of Place say.

/** The largest number of pixels of a length or a place. */
const MAX_PIXELS = 16384;
const SIDES = ['center', 'top', 'bottom', 'left', 'right', 'top-left', 'top-right', 'bottom-left', 'bottom-right'];

/**
 * A length in pixels or per cent; null if the text is none.
 *
 * @param {string} text - such as “640” or “50%”
 */
function length(text) {
    const [, number, percent] = /^([0-9]{1,5})(%?)$/.exec(text) ?? [];
    if (!(number >= 1 && number <= (percent ? 100 : MAX_PIXELS)))
        return null;
    if (percent)
        return whole => Math.max(1, Math.floor(whole * number / 100));
    return whole => Math.min(number, whole);
}

class Placement {
    /**
     * @param {object} options - of Place
     */
    constructor({place, size, margin = 0}) {
        this._margin = margin;
        this._place = place;
        if (place !== undefined && place !== 'pointer' && !SIDES.includes(place)) {
            this._point = place.split(' ').filter(word => word).map(Number);
            if (this._point.length !== 2 || !this._point.every(n => Number.isInteger(n) && n >= 0 && n <= MAX_PIXELS)) {
                throw new Refusal('InvalidArgument',
                    'expected center, an edge such as top, a corner such as top-right, pointer, or a point such as ' +
                    `100 50, found ${quoted(place)}`);
            }
        }
        if (size !== undefined) {
            this._size = size.split(' ').filter(word => word).map(length);
            if (this._size.length !== 2 || this._size.includes(null)) {
                throw new Refusal('InvalidArgument',
                    `expected a width and a height, each 1 to ${MAX_PIXELS} pixels or 1% to 100%, such as 640 400 or ` +
                    `50% 400, found ${quoted(size)}`);
            }
        }
    }

    /** Whether it says a place or a size. */
    get isAnywhere() {
        return this._place !== undefined || this._size !== undefined;
    }

    /**
     * The area that a window is asked to have.
     *
     * @param {object} current - its area
     * @param {object} area - the area without bars
     * @param {object} pointer - where the pointer is
     */
    frame(current, area, pointer) {
        const [width, height] = this._size
            ? [this._size[0](area.width), this._size[1](area.height)] : [current.width, current.height];
        return {...this.origin({...rectangle(current), width, height}, area, pointer), width, height};
    }

    /**
     * The upper left corner of a window, which is then wholly in the usable area if that is large enough.
     *
     * @param {object} current - its area
     * @param {object} area - the area without bars
     * @param {object} pointer - where the pointer is
     */
    origin(current, area, pointer) {
        const room = {x: area.width - current.width, y: area.height - current.height};
        const place = this._place;
        if (place === undefined)
            return {x: current.x, y: current.y};
        let [x, y] = this._point ?? [Math.floor(room.x / 2), Math.floor(room.y / 2)];
        if (place === 'pointer') {
            [x, y] = [pointer.x - area.x, pointer.y - area.y];
        } else if (!this._point) {
            const sides = place.split('-');
            if (sides.includes('left'))
                x = this._margin;
            if (sides.includes('right'))
                x = room.x - this._margin;
            if (sides.includes('top'))
                y = this._margin;
            if (sides.includes('bottom'))
                y = room.y - this._margin;
        }
        const within = (wish, most) => Math.max(0, Math.min(wish, most));
        return {x: area.x + within(x, room.x), y: area.y + within(y, room.y)};
    }
}

/**
 * @param {object} area - of the shell, whose properties are no own ones
 */
function rectangle({x, y, width, height}) {
    return {x, y, width, height};
}
